// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, MethodSpec } from '../chain/types.ts'
import { unlessAborted, within } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { Live, RelayConfig, SubscriptionConfig } from '../config/types.ts'
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Pool } from '../upstream/pool.ts'
import type { ChainReader, Family } from './family.ts'
import { Feed } from './feed.ts'
import { LogsTopic } from './logs.ts'
import { Sequence, type SequenceListener } from './sequence.ts'
import { Sockets } from './socket.ts'
import type { Subscriber, Subscription, SubscriptionObserver, Topic } from './subscriptions.ts'
import { subscriptionLimits } from '../bytes/limits.ts'
import type { EventLoopPacer } from '../bytes/event-loop-pacer.ts'

export interface HubOptions extends SubscriptionConfig {
  readonly chain: Pick<Chain, 'blockTimeMs' | 'failures' | 'allowedLagBlocks'>
  readonly family: Family
  readonly pool: Pool
  readonly clock: Clock
  readonly random: Random
  readonly observer: SubscriptionObserver
  readonly turns: EventLoopPacer
  /** `processingTimeoutMs` limits how long a client waits for its subscription. */
  readonly config: Live<Pick<RelayConfig, 'strategy' | 'processingTimeoutMs'>>
}

const minStallMs = 3_000

interface SharedTopic {
  readonly clients: Set<TopicClient>
  /** Rejects with a NodeRefused or a RelayError. */
  readonly opened: Promise<void>
  /** What asked an upstream for this topic; null if events of another topic serve it. */
  readonly feed: Pick<Feed, 'upstream' | 'origin'> | null
  /** Stops delivery. */
  close(): void
}

type TopicRun = Omit<SharedTopic, 'clients'>

/** All topics of one chain and interface. Clients with equivalent requests share a topic. */
export class Hub {
  readonly #options: HubOptions
  readonly #sockets: Sockets
  readonly #topics = new Map<string, SharedTopic>()
  /** Number of subscriptions per client. */
  readonly #clients = new Map<string, number>()
  readonly #sequences = new Map<string, Sequence>()

  constructor(options: HubOptions) {
    const { chain, family, stallBlocks } = options
    const { failures, allowedLagBlocks } = chain
    this.#options = options
    const stallMs = Math.max(stallBlocks * chain.blockTimeMs, minStallMs)
    const head = (family.head === null ? null : family.readers[family.head]) ?? null
    this.#sockets = new Sockets({ ...options, failures, allowedLagBlocks, stallMs, head })
  }

  /**
   * @param call the client's request; until the reply, its signal cancels it
   * @param client counts the topic against a limit: the client's address if known, otherwise its
   * connection
   * @throws RelayError if no upstream accepts the subscription
   * @throws NodeRefused if a node refuses it
   */
  async subscribe(
    call: Call,
    topic: Topic,
    subscriber: Subscriber,
    client: string,
  ): Promise<Subscription> {
    const known = this.#topics.get(topic.key)
    const shared = known ?? this.#begin(topic, client, call.method)
    const joined = new TopicClient(subscriber, () => {
      this.#count(client, -1)
      this.#left(topic, shared, joined)
    })
    shared.clients.add(joined)
    this.#count(client, 1)
    const { clock, observer, config } = this.#options
    const startedMs = clock.nowMs()
    const { processingTimeoutMs } = config.now
    observer.clientsChanged(topic.name, 1)
    const opened = (signal: AbortSignal) =>
      unlessAborted(shared.opened, signal, () => new CallAborted())
    const why = `no upstream has subscribed within ${processingTimeoutMs} ms, or none has reported the latest block`
    const tooLate = () => new RelayError(errorKinds.timeout, why)
    try {
      await within(clock, call.signal, processingTimeoutMs, opened, tooLate)
    } catch (error) {
      joined.unsubscribe()
      throw error
    }
    if (!known) noteSource(call, shared.feed, startedMs, clock.nowMs())
    return joined
  }

  /** Leaves every upstream. Clients receive no more events. */
  close(): void {
    for (const topic of this.#topics.values()) topic.close()
    this.#topics.clear()
  }

  #begin(topic: Topic, client: string, method: MethodSpec): SharedTopic {
    const { maxTopics } = this.#options
    const left = maxTopics - this.#topics.size
    const own = this.#clients.get(client) ?? 0
    const { fewTopics } = subscriptionLimits
    if (left <= 0 || (left <= Math.floor(maxTopics / 10) && own >= fewTopics)) {
      const rest = left > 0 ? `; the last ${left} are for clients with fewer than ${fewTopics}` : ''
      const message = `all clients together have ${this.#topics.size} different subscriptions already${rest}`
      throw new RelayError(errorKinds.tooManySubscriptions, message)
    }
    const clients = new Set<TopicClient>()
    const audience: Subscriber = {
      event: (event) => {
        for (const client of clients) client.event(event)
        // A client that subscribes now gets the next event.
        if (topic.isLast?.(event)) this.#forget(topic, shared)
      },
      ended: (reason) => {
        this.#forget(topic, shared)
        for (const client of [...clients]) client.end(reason)
      },
    }
    const { sequence: key } = topic
    const reader = key === null ? null : this.#options.family.readers[key]
    const run =
      key !== null && reader
        ? this.#sequenced(topic, key, reader, audience)
        : this.#live(topic, audience, method)
    const shared: SharedTopic = { clients, ...run }
    this.#topics.set(topic.key, shared)
    shared.opened.catch(() => this.#forget(topic, shared))
    return shared
  }

  /** Forwards live events as they arrive; those during a failover are lost. */
  #live(topic: Topic, audience: Subscriber, { showsBlock, block }: MethodSpec): TopicRun {
    const { name } = topic
    const tag = block.kind === 'tag' ? block.tag : null
    const request = { place: showsBlock ?? undefined, tag, ...topic }
    const feed = new Feed(
      { ...this.#options, sockets: this.#sockets, name, request },
      {
        event: (event) => audience.event(new Uint8Array(topic.shared?.(event) ?? event)),
        moved() {},
      },
    )
    const close = () => feed.close()
    return { opened: feed.open(), feed, close }
  }

  /** Sends the blocks of a sequence, or their logs. */
  #sequenced(topic: Topic, key: string, reader: ChainReader, audience: Subscriber): TopicRun {
    const known = this.#sequences.get(key)
    const sequence =
      known ?? new Sequence({ ...this.#options, sockets: this.#sockets, name: key, reader })
    this.#sequences.set(key, sequence)
    const { name, logFilter: filter } = topic
    const { logs: source } = reader
    const logs =
      filter && source
        ? new LogsTopic({ ...this.#options, name, filter, source, sequence }, audience)
        : null
    const listener: SequenceListener = logs ?? {
      appended: ({ event }) => audience.event(new Uint8Array(event)),
      removed() {},
      ended: audience.ended,
    }
    sequence.attach(listener)
    const close = () => {
      logs?.close()
      if (sequence.detach(listener)) return
      this.#sequences.delete(key)
      sequence.close()
    }
    return { opened: sequence.opened, feed: known ? null : sequence, close }
  }

  #count(client: string, by: number): void {
    this.#options.pool.tracker.subscriptions += by
    const count = (this.#clients.get(client) ?? 0) + by
    if (count > 0) this.#clients.set(client, count)
    else this.#clients.delete(client)
  }

  #left(topic: Topic, shared: SharedTopic, client: TopicClient): void {
    shared.clients.delete(client)
    this.#options.observer.clientsChanged(topic.name, -1)
    if (shared.clients.size === 0) this.#forget(topic, shared)
  }

  /** Removes a topic, so that the next client opens a new one. */
  #forget(topic: Topic, shared: SharedTopic): void {
    if (this.#topics.get(topic.key) !== shared) return
    this.#topics.delete(topic.key)
    shared.close()
  }
}

/** Records which upstream the client's call was sent to, for `explain`, the log and traces. */
function noteSource(call: Call, feed: SharedTopic['feed'], startedMs: number, nowMs: number): void {
  if (!feed?.upstream) return
  const attempt = call.journal.begin(feed.upstream, 'first', startedMs, feed.origin)
  Object.assign(attempt, { endedMs: nowMs, result: 'answer', code: 0 })
}

/** One client of a topic. */
export class TopicClient implements Subscription {
  readonly #subscriber: Subscriber
  readonly #left: () => void
  /** Events queued until the client has its reply; null afterwards. */
  #waiting: Uint8Array[] | null = []
  #waitingBytes = 0
  #reason: string | null = null
  #isGone = false

  /** @param left called once, when the client receives no more events */
  constructor(subscriber: Subscriber, left: () => void) {
    this.#subscriber = subscriber
    this.#left = left
  }

  begin(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = null
    for (const event of waiting) this.event(event)
    if (this.#reason !== null) this.#subscriber.ended(this.#reason)
  }

  unsubscribe(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#left()
  }

  event(event: Uint8Array): void {
    if (this.#isGone) return
    if (this.#waiting === null) return this.#subscriber.event(event)
    this.#waiting.push(event)
    this.#waitingBytes += event.length
    if (this.#waitingBytes > subscriptionLimits.earlyBytes) this.end('events were not taken')
  }

  end(reason: string): void {
    if (this.#isGone) return
    this.unsubscribe()
    if (this.#waiting === null) this.#subscriber.ended(reason)
    else this.#reason = reason
  }
}
