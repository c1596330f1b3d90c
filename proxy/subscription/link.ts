// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Answer } from './ask.ts'

/** A place on the chain and what stands before it: a block, a height or a slot. */
export interface Place {
  /** Height or slot: rises along the chain. */
  readonly number: number
  /** A block's hash; where no two can be at one height, the height. */
  readonly id: string
  /** The id of the one before it; null where that was not told. */
  readonly parent: string | null
}

/** One step of the chain, and what a subscriber is told of it. */
export interface Link extends Place {
  readonly event: Uint8Array
}

/** How one link follows from what was told. */
export interface Path {
  /** The last place told that is still on the chain; null: none is. */
  readonly fork: Place | null
  /** What lies between it and the link, oldest first. */
  readonly between: readonly Link[]
  /** The link itself, with all that belongs to it. */
  readonly link: Link
}

/** The chain as it was told so far, as far as it is remembered. */
export interface ToldChain {
  readonly tip: Place | null
  readonly lowest: Place | null
  find(id: string): Place | null
}

/** What a walk back along the chain goes by. */
export interface Walk {
  readonly told: ToldChain
  /** Sighted, but not told. */
  seen(id: string): Link | null
  /** More links than this between are too many. */
  readonly most: number
  /** Rather this upstream. */
  readonly prefer: string | null
  readonly signal: AbortSignal
}

/** Reads one kind of sequence: what is said of it, and from the chain itself. */
export interface ChainReader {
  /** Another branch may take the place of what was told. */
  readonly forks: boolean
  /** What an upstream's event says. @returns null when it is not such an event */
  read(event: Uint8Array): Link | null
  /**
   * The newest one that is sure to be followed by others. Without a parent it is incomplete, and
   * `pathTo` completes it.
   * @throws what asking throws
   */
  latest(prefer: string | null, signal: AbortSignal): Promise<Latest>
  /** Where a subscription that is made now begins: behind this place. @throws what asking throws */
  begin(prefer: string | null, signal: AbortSignal): Promise<Begin>
  /**
   * How a link follows from what was told.
   * @throws Unconnected @throws GapTooLarge and what asking throws
   */
  pathTo(link: Link, walk: Walk): Promise<Path>
}

export interface Begin extends Pick<Answer, 'upstream'> {
  readonly place: Place
}

export interface Latest extends Pick<Answer, 'upstream'> {
  readonly link: Link
}
