// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import { unlessAborted } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import type { Strategy } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Pool } from '../upstream/pool.ts'
import { TopicClient } from './client.ts'
import type { ChainReader, Family } from './family.ts'
import { Feed, type FeedListener } from './feed.ts'
import { LogsTopic } from './logs.ts'
import { Sequence, type SequenceListener } from './sequence.ts'
import { SocketUrls } from './socket-urls.ts'
import { SocketWatches } from './socket-watch.ts'
import { Sources } from './source.ts'
import type {
  Subscriber,
  Subscription,
  SubscriptionObserver,
  Subscriptions,
  Topic,
  TopicRequest,
} from './subscriptions.ts'

export interface HubOptions {
  readonly chain: Pick<Chain, 'blockTimeMs' | 'failures' | 'allowedLagBlocks'>
  readonly family: Family
  readonly pool: Pool
  readonly strategy: Strategy
  readonly clock: Clock
  readonly observer: SubscriptionObserver
  /** More missed blocks than this end a subscription. */
  readonly maxGapBlocks: number
  /** A socket without news for so many block times is checked. */
  readonly stallBlocks: number
  /** A client waits no longer for its subscription. */
  readonly processingTimeoutMs: number
}

const leastStallMs = 3_000
/** Sent logs that are kept for reorganisations: for each filter, and for all of them. */
const mostKeptBytes = { each: 16 * 1024 * 1024, all: 64 * 1024 * 1024 }

/** What makes the events of a topic. */
interface TopicRun {
  /** @throws NodeRefused @throws RelayError */
  open(): Promise<void>
  close(): void
}

/** How a run reaches the clients of its topic. */
interface TopicAudience {
  event(event: Uint8Array): void
  ended(reason: string): void
  /** The node has sent the last event. */
  over(): void
}

interface SharedTopic {
  readonly clients: Set<TopicClient>
  readonly run: TopicRun
  readonly opened: Promise<void>
}

interface SharedSequence {
  readonly sequence: Sequence
  readonly opened: Promise<void>
}

/** All topics of one chain and interface. Clients that ask the same share one. */
export class Hub implements Subscriptions {
  readonly #options: HubOptions
  readonly #stallMs: number
  readonly #urls: SocketUrls
  readonly #sources: Sources
  readonly #watches: SocketWatches
  readonly #topics = new Map<string, SharedTopic>()
  readonly #sequences = new Map<string, SharedSequence>()
  readonly #clientCounts = new Map<string, number>()
  #filters = 0

  constructor(options: HubOptions) {
    const { chain, pool, clock, strategy, stallBlocks } = options
    const { failures, allowedLagBlocks } = chain
    this.#options = options
    this.#stallMs = Math.max(stallBlocks * chain.blockTimeMs, leastStallMs)
    this.#urls = new SocketUrls(pool, clock, strategy)
    this.#sources = new Sources({ ...options, failures })
    this.#watches = new SocketWatches({
      ...options,
      sources: this.#sources,
      allowedLagBlocks,
      stallMs: this.#stallMs,
    })
  }

  async subscribe(call: Call, topic: Topic, subscriber: Subscriber): Promise<Subscription> {
    const shared = this.#topics.get(topic.key) ?? this.#begin(topic)
    const client = new TopicClient(subscriber, () => {
      this.#left(topic, shared, client)
    })
    shared.clients.add(client)
    this.#count(topic.name, 1)
    const { clock, processingTimeoutMs } = this.#options
    const limit = new TimeLimit(clock, call.signal, processingTimeoutMs)
    try {
      await unlessAborted(shared.opened, limit.signal, () => new CallAborted())
    } catch (error) {
      client.unsubscribe()
      throw limit.spentMs === null ? error : tooLate(limit.spentMs)
    } finally {
      limit.end()
    }
    return client
  }

  /** Leaves every upstream. No client gets anything any more. */
  close(): void {
    for (const { run } of this.#topics.values()) run.close()
    this.#topics.clear()
  }

  #begin(topic: Topic): SharedTopic {
    const clients = new Set<TopicClient>()
    const audience: TopicAudience = {
      event(event) {
        for (const client of clients) client.event(event)
      },
      ended: (reason) => {
        this.#forget(topic, shared)
        for (const client of [...clients]) client.end(reason)
      },
      over: () => {
        this.#forget(topic, shared)
        for (const client of [...clients]) client.over()
      },
    }
    const reader = topic.sequence === null ? null : this.#options.family.readers[topic.sequence]
    const run = reader ? this.#sequenceRun(topic, reader, audience) : this.#liveRun(topic, audience)
    const shared = { clients, run, opened: run.open() }
    this.#topics.set(topic.key, shared)
    shared.opened.catch(() => {
      this.#forget(topic, shared)
    })
    return shared
  }

  /** Events as they come: what an upstream sent before a failover and after it, not between. */
  #liveRun(topic: Topic, audience: TopicAudience): TopicRun {
    const feed = this.#createFeed(topic.name, topic, {
      event: (event) => {
        audience.event(topic.shared?.(event) ?? event)
        if (topic.isLast?.(event) !== true) return
        feed.close(true)
        audience.over()
      },
      moved() {},
    })
    return {
      open: () => feed.open(),
      close: () => {
        feed.close()
      },
    }
  }

  /** The blocks of a sequence, or the logs in them. */
  #sequenceRun(topic: Topic, reader: ChainReader, audience: TopicAudience): TopicRun {
    const name = topic.sequence as string
    const { sequence, opened } = this.#sequences.get(name) ?? this.#beginSequence(name, reader)
    const logs = topic.logFilter && this.#logsOf(topic, topic.logFilter, sequence, audience)
    if (logs) this.#filters += 1
    const listener: SequenceListener = logs ?? {
      appended: ({ event }) => {
        audience.event(event)
      },
      removed() {},
      ended: audience.ended,
    }
    return {
      open() {
        sequence.attach(listener)
        return opened
      },
      close: () => {
        logs?.close()
        if (logs) this.#filters -= 1
        if (sequence.detach(listener)) return
        if (this.#sequences.get(name)?.sequence === sequence) this.#sequences.delete(name)
        sequence.close()
      },
    }
  }

  #logsOf(
    topic: Topic,
    filter: object,
    sequence: Sequence,
    audience: TopicAudience,
  ): LogsTopic | null {
    const { fetchLogs } = this.#options.family
    if (fetchLogs === null) return null
    const { name } = topic
    const { each, all } = mostKeptBytes
    const options = {
      ...this.#options,
      ...{ name, filter, fetchLogs, sequence },
      mostKeptBytes: () => Math.min(each, all / Math.max(this.#filters, 1)),
    }
    return new LogsTopic(options, audience)
  }

  #beginSequence(name: string, reader: ChainReader): SharedSequence {
    const sequence = new Sequence({
      ...this.#options,
      ...{ name, reader },
      createFeed: (listener) => this.#createFeed(name, reader.request, listener),
    })
    const shared = { sequence, opened: sequence.open() }
    this.#sequences.set(name, shared)
    return shared
  }

  #createFeed(name: string, request: TopicRequest, listener: FeedListener): Feed {
    const { clock, observer } = this.#options
    const [urls, sources, watches] = [this.#urls, this.#sources, this.#watches]
    return new Feed({ name, request, urls, sources, watches, clock, observer }, listener)
  }

  #left(topic: Topic, shared: SharedTopic, client: TopicClient): void {
    shared.clients.delete(client)
    this.#count(topic.name, -1)
    if (shared.clients.size === 0) this.#forget(topic, shared)
  }

  /** The next client begins anew. */
  #forget(topic: Topic, shared: SharedTopic): void {
    if (this.#topics.get(topic.key) !== shared) return
    this.#topics.delete(topic.key)
    shared.run.close()
  }

  #count(topic: string, change: 1 | -1): void {
    const clients = (this.#clientCounts.get(topic) ?? 0) + change
    this.#clientCounts.set(topic, clients)
    this.#options.observer.clientsChanged(topic, clients)
  }
}

function tooLate(spentMs: number): RelayError {
  return new RelayError(
    errorKinds.timeout,
    `no upstream has subscribed within ${spentMs} ms, or none has reported the latest block`,
  )
}
