// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { EventLoopPacer } from '../../bytes/event-loop-pacer.ts'
import { loadCatalog } from '../../chain/load-catalog.ts'
import type { ChainCatalog, ChainInterface, Question } from '../../chain/types.ts'
import type { Clock } from '../../clock/clock.ts'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { Random } from '../../clock/random.ts'
import type { ApiInterface } from '../../config/types.ts'
import { type AttemptRecord, type Call, Journal, noDirectives } from '../../relay/call.ts'
import { CallAborted, errorKinds, RelayError } from '../../relay/errors.ts'
import { ChainTracker } from '../../tracker/chain-tracker.ts'
import { createPool, type Pool } from '../../upstream/pool.ts'
import { nodeUrlConfig } from '../../upstream/testing/node-url-config.ts'
import { ScriptedTransport } from '../../upstream/testing/scripted-transport.ts'
import type { Answer, Ask, OwnQuestion } from '../ask.ts'
import type { Family } from '../family.ts'
import { subscriptionFormOf } from '../form-of.ts'
import type { SubscriptionForm } from '../form.ts'
import { Hub } from '../hub.ts'
import type { Subscription } from '../subscriptions.ts'
import { TestSocket } from './test-socket.ts'

export interface FixtureOptions {
  readonly chainId: string
  readonly apiInterface?: ApiInterface
  readonly family: (ask: Ask, clock: Clock) => Family
  /** A node's answer to a call; undefined if all nodes are down. */
  readonly answer: (method: string, params: never, node: string) => unknown
  /** Names of the nodes that have a WebSocket URL. */
  readonly sockets?: readonly string[]
  /** Names of the nodes without a WebSocket URL. */
  readonly others?: readonly string[]
  readonly maxGapBlocks?: number
  readonly maxTopics?: number
  readonly stallBlocks?: number
  readonly random?: Random
}

/** A client and what it received. */
export interface TestClient {
  /** Of its call. */
  readonly attempts: readonly AttemptRecord[]
  readonly texts: string[]
  ended: string | null
  /** Null before the reply. */
  subscription: Subscription | null
  refused: unknown
  /** Cancels the request or unsubscribes. */
  leave(): void
}

let catalog: Promise<ChainCatalog> | null = null

/** Subscriptions over scripted nodes, in virtual time. */
export class SubscriptionFixture {
  readonly clock = new VirtualClock()
  readonly pool: Pool
  readonly hub: Hub
  readonly sockets: Readonly<Record<string, TestSocket>>
  /** The calls of the observer, as text. */
  readonly events: string[] = []
  /** The number of clients, by topic name. */
  readonly clients: Record<string, number> = {}
  /** Calls of the router itself, by node. */
  readonly calls: string[] = []
  readonly #options: FixtureOptions
  readonly #form: SubscriptionForm
  readonly #iface: ChainInterface

  static async create(options: FixtureOptions): Promise<SubscriptionFixture> {
    const chain = (await (catalog ??= loadCatalog([]))).find(options.chainId)
    const iface = chain?.interfaces.get(options.apiInterface ?? 'jsonrpc')
    if (!chain || !iface) throw new Error(`the bundled specs lack ${options.chainId}`)
    return new SubscriptionFixture(options, chain, iface)
  }

  private constructor(
    options: FixtureOptions,
    chain: NonNullable<ReturnType<ChainCatalog['find']>>,
    iface: ChainInterface,
  ) {
    const { clock, events } = this
    const { sockets = ['one', 'two'], others = [] } = options
    this.#options = options
    this.#iface = iface
    this.sockets = Object.fromEntries(sockets.map((name) => [name, new TestSocket(clock)]))
    const form = subscriptionFormOf(chain, iface)
    if (!form) throw new Error('nothing to subscribe to')
    this.#form = form
    const names = [...sockets, ...others]
    this.pool = createPool(
      names.map((name) => ({
        name,
        tier: 'primary',
        chainId: chain.id,
        apiInterface: iface.apiInterface,
        nodeUrls: [
          nodeUrlConfig(`http://${name}.test`),
          ...(sockets.includes(name) ? [nodeUrlConfig(`ws://${name}.test`, { scheme: 'ws' })] : []),
        ],
      })),
      {
        chain,
        iface,
        tracker: new ChainTracker({ chain, clock }),
        config: { now: { strategy: 'round-robin' } },
        maxSessions: 1_000,
        clock,
        random: seededRandom(1),
        observer: {
          stateChanged() {},
          cooldownBegan: (upstream, url) => events.push(`${upstream} is in cooldown at ${url}`),
          verificationFailed() {},
        },
        failureThreshold: 5,
        createTransport: () => new ScriptedTransport(clock, () => ({ hang: true })),
        createSocketTransport: (url) =>
          this.sockets[/\/\/(\w+)\./.exec(url.url.toString())?.[1] ?? ''] as TestSocket,
      },
    )
    for (const upstream of this.pool.upstreams) {
      for (const url of upstream.allUrls) url.verified = true
      upstream.availability.verified()
    }
    this.hub = new Hub({
      chain,
      family: options.family((question) => this.#ask(question), clock),
      pool: this.pool,
      config: { now: { strategy: 'round-robin', processingTimeoutMs: 30_000 } },
      clock,
      turns: new EventLoopPacer(),
      random: options.random ?? seededRandom(2),
      observer: {
        clientsChanged: (topic, change) =>
          (this.clients[topic] = (this.clients[topic] ?? 0) + change),
        upstreamChanged: (name, change) => events.push(`${name} ${change > 0 ? '+' : '-'}1`),
        left: (topic, upstream, why) => events.push(`${topic} leaves ${upstream}: ${why}`),
        joined: (topic, upstream) => events.push(`${topic} by ${upstream}`),
        filled: (topic, blocks) => events.push(`${topic} fills ${blocks}`),
        duplicateDropped: (topic) => events.push(`${topic} drops a duplicate`),
        fetchFailed: (topic, forMs, why) =>
          events.push(`${topic} lacks the next event for ${forMs / 1_000} s: ${why}`),
        ended: (topic, reason) => events.push(`${topic} ends: ${reason}`),
        failed: (topic, error) => {
          throw new Error(`${topic} failed`, { cause: error })
        },
      },
      maxGapBlocks: options.maxGapBlocks ?? 1_000,
      maxTopics: options.maxTopics ?? 10_000,
      stallBlocks: options.stallBlocks ?? 3,
    })
  }

  /** Makes all nodes report this latest block. */
  report(block: number): void {
    for (const upstream of this.pool.upstreams)
      this.pool.observeHead(upstream, block, this.clock.nowMs(), upstream.urls[0]!)
  }

  /** Subscribes a client. Delivery starts as soon as it has its reply. */
  ask(method: string, params: unknown, name = 'client'): TestClient {
    const wish = this.#form.read({ method, params, id: '1' })
    if (wish?.kind !== 'subscribe') throw new Error(`${method} subscribes to nothing`)
    const abort = new AbortController()
    const client: TestClient = {
      get attempts() {
        return call.journal.attempts
      },
      texts: [],
      ended: null,
      subscription: null,
      refused: null,
      leave() {
        abort.abort()
        client.subscription?.unsubscribe()
      },
    }
    const { apiInterface } = this.#iface
    const spec = this.#iface.classify({ apiInterface, method, params } as Question)
    const call = callOf(abort.signal, spec)
    const subscriber = {
      event: (result: Uint8Array) => client.texts.push(Buffer.from(result).toString()),
      ended: (reason: string) => (client.ended = reason),
    }
    this.hub.subscribe(call, wish.topic, subscriber, name).then(
      (subscription) => {
        client.subscription = subscription
        subscription.begin()
      },
      (error: unknown) => {
        client.refused = error
      },
    )
    return client
  }

  /** Like `ask`, but waits for the reply. */
  async join(method: string, params: unknown, name?: string): Promise<TestClient> {
    const client = this.ask(method, params, name)
    await this.clock.advance(100)
    return client
  }

  async #ask({ method, params, prefer, avoid, signal }: OwnQuestion): Promise<Answer> {
    const names = this.pool.upstreams
      .map(({ name }) => name)
      .filter((name) => !avoid.includes(name))
    const node = names.find((name) => name === prefer) ?? names[0] ?? ''
    this.calls.push(`${node} ${method} ${JSON.stringify(params)}`)
    await new Promise<void>((resolve) => this.clock.after(10, resolve))
    if (signal.aborted) throw new CallAborted()
    const value = this.#options.answer(method, params as never, node)
    if (value === undefined) throw new RelayError(errorKinds.upstreamFailed, 'all are down')
    return { result: Buffer.from(JSON.stringify(value)), upstream: node }
  }
}

function callOf(signal: AbortSignal, method: Call['method']): Call {
  return {
    guid: 'test',
    method,
    request: { verb: 'POST', path: '', headers: [], body: null },
    reader: {} as Call['reader'],
    directives: noDirectives,
    signal,
    journal: new Journal(0),
  }
}
