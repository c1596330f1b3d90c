// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { EthereumLogs } from './families/ethereum.ts'
import type { TopicRequest } from './subscriptions.ts'

/** The position of a block, a height or a slot on its chain. */
export interface Position {
  /** Height or slot: rises along the chain. */
  readonly number: number
  /** A block's hash; where no two blocks can be at one height, the height. */
  readonly id: string
  /** The id of the one before it; null where that is not known. */
  readonly parent: string | null
}

/** One step of a chain, and the event that subscribers get for it. */
export interface Block extends Position {
  readonly event: Uint8Array
}

/** A block of a chain without forks. Without an event it is still to be fetched. */
export function numberedBlock(number: number, parent: number | null, event = noEvent): Block {
  return { number, id: String(number), parent: parent === null ? null : String(parent), event }
}

const noEvent: Uint8Array = new Uint8Array()

/** The newest part of the chain as it was sent: one branch, oldest first. */
export class History {
  readonly #max: number
  readonly #positions: Position[] = []
  #isCut = false

  /** @param max how many positions are remembered */
  constructor(max: number) {
    this.#max = max
  }

  get tip(): Position | null {
    return this.#positions.at(-1) ?? null
  }

  /** Behind which everything was sent; null once that is forgotten. */
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

  /** Forgets what was sent behind a position, or all for null. @returns what it was, newest first */
  goBackTo(fork: Position | null): readonly Position[] {
    const kept = fork ? this.#positions.findIndex(({ id }) => id === fork.id) + 1 : 0
    return this.#positions.splice(kept).toReversed()
  }
}

export interface Backfill {
  /** The last block sent. */
  readonly tip: Position
  /** What clients were sent. */
  readonly sent: History
  /** More blocks than this are not fetched. */
  readonly maxBlocks: number
  /** The upstream to ask first. */
  readonly prefer: string | null
  readonly signal: AbortSignal
}

/** How a block follows from what was sent. */
export interface Path {
  /** The last position sent that is still on the chain; null: none is. */
  readonly fork: Position | null
  /** What comes behind it, oldest first. */
  readonly blocks: readonly Block[]
}

/** Reads one sequence of a chain: from the events of nodes, and by questions over the relay. */
export interface ChainReader {
  /** How a node is asked for its events. */
  readonly request: TopicRequest
  /** Blocks may be replaced by those of another branch. */
  readonly forks: boolean
  /** What it counts, for messages. */
  readonly unit: 'blocks' | 'slots'
  /** @returns null when it is not such an event */
  read(event: Uint8Array): Block | null
  /**
   * The newest block that is sure to be followed by others.
   * @param isStart the one behind which a subscription that is made now begins
   * @throws what asking throws
   */
  latest(prefer: string | null, signal: AbortSignal, isStart?: boolean): Promise<Block>
  /**
   * @param block at most `maxBlocks` above the tip
   * @returns null where more blocks were missed than are fetched
   * @throws BackfillError and what asking throws
   */
  pathTo(block: Block, backfill: Backfill): Promise<Path | null>
  /** Absent where there are no logs. */
  readonly logs?: EthereumLogs
}

/** What of a family of chains can be sent without a gap. */
export interface Family {
  /** By the name of their topic. Topics of other names are live. */
  readonly readers: Readonly<Record<string, ChainReader>>
  /** The sequence that shows whether a socket is alive; null: none. */
  readonly head: string | null
}
