// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { History, Position } from './history.ts'
import type { TopicRequest } from './subscriptions.ts'

/** One step of a chain, and the event that subscribers get for it. */
export interface Block extends Position {
  readonly event: Uint8Array
}

/** A block of a chain without forks. Without an event it is still to be fetched. */
export function numberedBlock(number: number, parent: number | null, event = noEvent): Block {
  return { number, id: String(number), parent: parent === null ? null : String(parent), event }
}

const noEvent: Uint8Array = new Uint8Array()

export interface Backfill {
  /** The last block sent. */
  readonly tip: Position
  /** What clients were sent. */
  readonly sent: History
  /** More blocks than this are not fetched. */
  readonly mostBlocks: number
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
   * @param block at most `mostBlocks` above the tip
   * @throws BackfillError @throws GapTooLarge, and what asking throws
   */
  pathTo(block: Block, backfill: Backfill): Promise<Path>
  /** Absent where there are no logs. */
  readonly fetchLogs?: FetchLogs
}

/** All logs of a block that fit a filter, in their order. @throws what asking throws */
export type FetchLogs = (
  position: Position,
  filter: object,
  prefer: string | null,
  signal: AbortSignal,
) => Promise<readonly Uint8Array[]>

/** What of a family of chains can be sent without a gap. */
export interface Family {
  /** By the name of their topic. Topics of other names are live. */
  readonly readers: Readonly<Record<string, ChainReader>>
  /** The sequence by which it is seen whether a socket is alive; null: none. */
  readonly head: string | null
}
