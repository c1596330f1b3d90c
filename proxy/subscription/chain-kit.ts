// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { DerivedEvents } from './derived.ts'
import type { ChainReader } from './link.ts'
import type { TopicRequest } from './source-socket.ts'
import type { Topic } from './topic.ts'

/** One unbroken sequence that a chain has. */
export interface Sequence {
  /** How it is asked for at an upstream. */
  readonly request: TopicRequest
  readonly reader: ChainReader
  /** Its numbers are those that the pool's tip is told in. */
  readonly followsTip: boolean
}

/** What one family of chains can tell without a gap. */
export interface ChainKit {
  /** The sequence that a topic is, or follows from; topics of the same name share it. Null: live. */
  sequenceOf(topic: Topic): string | null
  sequence(name: string): Sequence
  /** What a topic makes of its sequence; null: the links' own events. */
  derived(topic: Topic): DerivedEvents | null
}
