// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Strategy } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Pool } from '../upstream/pool.ts'
import type { ChainKit } from './chain-kit.ts'
import { DerivedSequence } from './derived.ts'
import { KeptBytes } from './kept-bytes.ts'
import { LiveRun } from './live-run.ts'
import { Member } from './member.ts'
import type { SubscriptionObserver } from './observer.ts'
import { Patience } from './patience.ts'
import { Places } from './places.ts'
import { Sequencer } from './sequencer.ts'
import type { Subscriber, Subscription, Subscriptions } from './subscriptions.ts'
import type { Topic } from './topic.ts'
import type { TopicAudience, TopicRun } from './topic-run.ts'
import { unlessAborted } from './unless-aborted.ts'

export interface HubOptions {
  readonly chain: Chain
  readonly kit: ChainKit
  readonly pool: Pool
  readonly strategy: Strategy
  readonly clock: Clock
  readonly observer: SubscriptionObserver
  /** More missed blocks than this end a subscription. */
  readonly maxGapBlocks: number
  /** A source without news for so many block times is looked after. */
  readonly stallBlocks: number
  /** A client waits no longer for its subscription. */
  readonly processingTimeoutMs: number
}

const leastStallMs = 3_000
/** Bytes of told events that are kept for all topics, for the case that they are taken back. */
const mostKeptBytes = 64 * 1024 * 1024
const pollMs = { least: 250, most: 4_000 }

/** A topic that somebody hears of. */
interface Shared {
  readonly members: Set<Member>
  readonly run: TopicRun
  readonly opened: Promise<void>
}

/** A sequence that topics are made of. */
interface SharedSequence {
  readonly sequencer: Sequencer
  readonly opened: Promise<void>
}

/** All topics of one chain and interface: one run for each, whoever many clients it has. */
export class Hub implements Subscriptions {
  readonly #options: HubOptions
  readonly #places: Places
  readonly #topics = new Map<string, Shared>()
  readonly #sequences = new Map<string, SharedSequence>()
  readonly #clients = new Map<string, number>()
  readonly #kept = new KeptBytes(mostKeptBytes)

  constructor(options: HubOptions) {
    this.#options = options
    this.#places = new Places(options.pool, options.clock, options.strategy)
  }

  async subscribe(call: Call, topic: Topic, subscriber: Subscriber): Promise<Subscription> {
    const shared = this.#topics.get(topic.key) ?? this.#begin(topic)
    const member = new Member(subscriber, () => {
      this.#left(topic, shared, member)
    })
    shared.members.add(member)
    this.#count(topic.name, 1)
    const { clock, processingTimeoutMs } = this.#options
    const limit = new TimeLimit(clock, call.signal, processingTimeoutMs)
    try {
      await unlessAborted(shared.opened, limit.signal)
    } catch (error) {
      member.unsubscribe()
      throw limit.spentMs === null ? error : tooLate(limit.spentMs)
    } finally {
      limit.end()
    }
    return member
  }

  /** Leaves every upstream. Nobody is told. */
  close(): void {
    for (const { run } of this.#topics.values()) run.close()
    this.#topics.clear()
  }

  #begin(topic: Topic): Shared {
    const members = new Set<Member>()
    const audience: TopicAudience = {
      event(event) {
        for (const member of members) member.event(event)
      },
      ended: (reason) => {
        this.#forget(topic, shared)
        for (const member of [...members]) member.end(reason)
      },
      over: () => {
        this.#forget(topic, shared)
        for (const member of [...members]) member.over()
      },
    }
    const run = this.#runOf(topic, audience)
    const opened = run.open()
    const shared = { members, run, opened }
    this.#topics.set(topic.key, shared)
    opened.catch(() => {
      this.#forget(topic, shared)
    })
    return shared
  }

  #runOf(topic: Topic, audience: TopicAudience): TopicRun {
    const { kit, chain, clock, observer, maxGapBlocks } = this.#options
    const sequence = kit.sequenceOf(topic)
    if (sequence === null)
      return new LiveRun(
        topic,
        { name: topic.name, places: this.#places, observer, clock, failures: chain.failures },
        audience,
      )
    const events = kit.derived(topic)
    const { sequencer, opened } = this.#sequences.get(sequence) ?? this.#beginSequence(sequence)
    const listener = events
      ? new DerivedSequence(
          {
            name: topic.name,
            events,
            clock,
            observer,
            patience: new Patience({
              name: topic.name,
              clock,
              observer,
              stallMs: this.#stallMs,
              outage: sequencer.outage,
            }),
            maxGapBlocks,
            forks: kit.sequence(sequence).reader.forks,
            kept: this.#kept,
            upstream: () => sequencer.upstream,
          },
          audience,
        )
      : {
          appended: ({ event }: { readonly event: Uint8Array }) => {
            audience.event(event)
          },
          removed() {},
          ended: audience.ended,
          close() {},
        }
    return {
      open() {
        sequencer.attach(listener)
        return opened
      },
      close: () => {
        listener.close()
        if (sequencer.detach(listener)) return
        if (this.#sequences.get(sequence)?.sequencer === sequencer) this.#sequences.delete(sequence)
        sequencer.close()
      },
    }
  }

  get #stallMs(): number {
    const { chain, stallBlocks } = this.#options
    return Math.max(stallBlocks * chain.blockTimeMs, leastStallMs)
  }

  #beginSequence(name: string): SharedSequence {
    const { kit, chain } = this.#options
    const { blockTimeMs, failures } = chain
    const sequencer = new Sequencer({
      ...this.#options,
      ...kit.sequence(name),
      name,
      places: this.#places,
      failures,
      allowedLagBlocks: chain.allowedLagBlocks,
      pollIntervalMs: Math.min(Math.max(blockTimeMs / 4, pollMs.least), pollMs.most),
      stallMs: this.#stallMs,
    })
    const shared = { sequencer, opened: sequencer.open() }
    this.#sequences.set(name, shared)
    return shared
  }

  #left(topic: Topic, shared: Shared, member: Member): void {
    shared.members.delete(member)
    this.#count(topic.name, -1)
    if (shared.members.size === 0) this.#forget(topic, shared)
  }

  /** Whoever comes next begins anew. */
  #forget(topic: Topic, shared: Shared): void {
    if (this.#topics.get(topic.key) !== shared) return
    this.#topics.delete(topic.key)
    shared.run.close()
  }

  #count(topic: string, change: 1 | -1): void {
    const clients = (this.#clients.get(topic) ?? 0) + change
    this.#clients.set(topic, clients)
    this.#options.observer.clientsChanged(topic, clients)
  }
}

function tooLate(spentMs: number): RelayError {
  return new RelayError(errorKinds.timeout, `no upstream has subscribed within ${spentMs} ms`)
}
