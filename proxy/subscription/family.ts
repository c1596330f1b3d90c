// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { LogFilter } from '../integrity/logs.ts'
import type { OwnQuestion } from './ask.ts'
import type { Position, TopicRequest } from './subscriptions.ts'

/** One step of a chain, and its event for subscribers. */
export interface Block extends Position {
  readonly event: Uint8Array
}

/** A block on a chain without forks. Without an event, it must still be fetched. */
export function numberedBlock(number: number, parent: number | null, event = noEvent): Block {
  return { number, id: String(number), parent: parent === null ? null : String(parent), event }
}

const noEvent: Uint8Array = new Uint8Array()

/** The newest blocks that were sent: one branch, oldest first. */
export class History {
  readonly #max: number
  readonly #positions: Position[] = []
  #isCut = false

  /** @param max how many positions are retained */
  constructor(max: number) {
    this.#max = max
  }

  get tip(): Position | null {
    return this.#positions.at(-1) ?? null
  }

  /** The start of the history; null once the limit has dropped it. */
  get lowest(): Position | null {
    return (this.#isCut ? null : this.#positions[0]) ?? null
  }

  find(id: string): Position | null {
    return this.#positions.findLast((each) => each.id === id) ?? null
  }

  append({ number, id, parent }: Position): void {
    this.#positions.push({ number, id, parent })
    if (this.#positions.length <= this.#max) return
    this.#positions.shift()
    this.#isCut = true
  }

  /** Drops the positions after `fork`; null: all. @returns the dropped ones, newest first */
  goBackTo(fork: Position | null): readonly Position[] {
    const retained = fork ? this.#positions.findIndex(({ id }) => id === fork.id) + 1 : 0
    return this.#positions.splice(retained).toReversed()
  }
}

export interface Backfill {
  /** The last block sent. */
  readonly tip: Position
  /** The blocks that clients have received. */
  readonly sent: History
  /** Maximum number of blocks to fetch. */
  readonly maxBlocks: number
  /** The upstream to try first. */
  readonly prefer: string | null
  readonly signal: AbortSignal
}

/** How a block connects to the blocks already sent. */
export interface Path {
  /** The last sent position that is still on the chain; null if there is none. */
  readonly fork: Position | null
  /** The blocks after the fork, oldest first. */
  readonly blocks: readonly Block[]
}

/** Reads one sequence of a chain, from node events and from requests over the relay. */
export interface ChainReader {
  /** The request that subscribes on a node. */
  readonly request: TopicRequest
  /** Whether a reorg may replace blocks. */
  readonly forks: boolean
  /** The unit to use in messages. */
  readonly unit: 'blocks' | 'slots'
  /** @returns null if this is no such event */
  read(event: Uint8Array): Block | null
  /**
   * The latest block; on Solana, the latest confirmed slot.
   * @param isStart returns the block after which a new subscription begins
   * @throws whatever `ask` throws
   */
  latest(prefer: string | null, signal: AbortSignal, isStart?: boolean): Promise<Block>
  /**
   * @param block at most `maxBlocks` above the tip
   * @returns null if the gap exceeds `maxBlocks`
   * @throws BackfillError and whatever `ask` throws
   */
  pathTo(block: Block, backfill: Backfill): Promise<Path | null>
  /** Absent if the chain has no logs. */
  readonly logs?: LogSource
}

/** Fetches the logs of blocks, for all filters. */
export interface LogSource {
  /** Number of active filters. */
  filters: number
  /** All matching logs of a block, in order. @throws whatever `ask` throws */
  fetch(
    block: Position,
    filter: LogFilter,
    request: Pick<OwnQuestion, 'prefer' | 'signal'>,
  ): Promise<readonly Uint8Array[]>
}

/** The sequences of a chain family that the router can backfill. */
export interface Family {
  /** Readers by topic name. All other topics are live. */
  readonly readers: Readonly<Record<string, ChainReader>>
  /** The sequence whose events prove that a socket is alive; null if there is none. */
  readonly head: string | null
}
