// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import { Cancellation, unlessAborted } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import type { Said } from '../upstream/dialect.ts'
import { jsonRpcDialect } from '../upstream/dialects/json.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import { TransportError, type UpstreamSubscription } from '../upstream/transport.ts'
import { release, type Incoming, type Outgoing } from '../upstream/wire.ts'
import { memberBytes } from './ask.ts'
import type { SocketEndpoint } from './socket-urls.ts'
import { NodeRefused, type SubscriptionObserver, type TopicRequest } from './subscriptions.ts'

/** How long an upstream may take to answer before another one is asked. */
const openTimeoutMs = 5_000

export interface SourceListener {
  event(result: Uint8Array): void
  lost(why: string): void
}

/** One subscription at one upstream. */
export interface Source {
  readonly endpoint: SocketEndpoint
  /** Begins to listen, once. What has come since the request comes first. */
  listen(listener: SourceListener): void
  /** @param isOver the upstream has ended the subscription itself */
  close(isOver?: boolean): void
}

export interface SourcesOptions {
  readonly failures: FailureTable
  readonly clock: Clock
  readonly observer: Pick<SubscriptionObserver, 'upstreamChanged'>
}

/** Opens subscriptions at upstreams: no two of the same at one URL, for some nodes refuse the second. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #shared = new Map<SocketUrl, Map<string, SharedSource>>()

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  /** @throws TransportError @throws NodeRefused when the node refuses */
  async open(
    request: TopicRequest,
    endpoint: SocketEndpoint,
    signal: AbortSignal,
  ): Promise<Source> {
    const { url } = endpoint
    const limit = new TimeLimit(this.#options.clock, signal, url.timeoutMs ?? openTimeoutMs)
    try {
      return await this.#sharedSource(request, endpoint).join(limit.signal)
    } finally {
      limit.end()
    }
  }

  #sharedSource(request: TopicRequest, endpoint: SocketEndpoint): SharedSource {
    const key = JSON.stringify([request.method, request.params])
    const atUrl = this.#shared.get(endpoint.url) ?? new Map<string, SharedSource>()
    this.#shared.set(endpoint.url, atUrl)
    const known = atUrl.get(key)
    if (known) return known
    const shared = new SharedSource(this.#options, request, endpoint, () => atUrl.delete(key))
    atUrl.set(key, shared)
    return shared
  }
}

interface OpenSubscription {
  readonly subscription: UpstreamSubscription
  readonly answer: Said
}

/** A subscription at an upstream that several listen to. It ends when the last one has left. */
class SharedSource {
  readonly #options: SourcesOptions
  readonly #request: TopicRequest
  readonly #endpoint: SocketEndpoint
  readonly #ended: () => void
  readonly #members = new Map<Source, SourceListener | null>()
  readonly #opening: Promise<void>
  /** Null until the upstream has accepted, and once it is over. */
  #open: OpenSubscription | null = null
  #isListening = false

  constructor(
    options: SourcesOptions,
    request: TopicRequest,
    endpoint: SocketEndpoint,
    ended: () => void,
  ) {
    this.#options = options
    this.#request = request
    this.#endpoint = endpoint
    this.#ended = ended
    this.#opening = this.#subscribe()
  }

  /** @throws TransportError @throws NodeRefused */
  async join(signal: AbortSignal): Promise<Source> {
    const member: Source = {
      endpoint: this.#endpoint,
      listen: (listener) => {
        // Another member may have found it lost already.
        if (this.#open === null) return listener.lost('reset: it was lost at once')
        this.#members.set(member, listener)
        if (!this.#isListening) this.#listen()
      },
      close: (isOver = false) => {
        if (this.#members.delete(member) && (this.#members.size === 0 || isOver))
          this.#close(isOver)
      },
    }
    this.#members.set(member, null)
    try {
      await unlessAborted(this.#opening, signal, () => new TransportError('aborted', 'taken back'))
      return member
    } catch (error) {
      member.close()
      throw error
    }
  }

  /** What was sent is answered some time: when nobody waits for it any more, it is ended then. */
  async #subscribe(): Promise<void> {
    const { failures, observer } = this.#options
    const { url, upstream } = this.#endpoint
    try {
      const request = outgoingOf(this.#request)
      const subscription = await url.transport.subscribe(request, new Cancellation())
      this.#open = { subscription, answer: readAnswer(subscription, failures, url) }
    } catch (error) {
      this.#ended()
      throw error
    }
    observer.upstreamChanged(upstream.name, 1)
    if (this.#members.size === 0) this.#close(false)
  }

  #listen(): void {
    this.#isListening = true
    const { url } = this.#endpoint
    const isNamed = this.#request.isNamed
    this.#open?.subscription.listen({
      event: (result) => {
        const event = isNamed ? result : url.mask.bytes(result)
        for (const listener of [...this.#members.values()]) listener?.event(event)
      },
      lost: ({ fault, message }) => {
        if (this.#end() === null) return
        for (const listener of [...this.#members.values()]) listener?.lost(`${fault}: ${message}`)
      },
    })
  }

  #close(isOver: boolean): void {
    const open = this.#end()
    open?.subscription.close(isOver ? null : unsubscribing(this.#request, open.answer))
  }

  /** @returns what it was; null when it was not open */
  #end(): OpenSubscription | null {
    const open = this.#open
    if (open === null) return null
    this.#open = null
    this.#ended()
    this.#options.observer.upstreamChanged(this.#endpoint.upstream.name, -1)
    return open
  }
}

function outgoingOf({ method, params }: Pick<TopicRequest, 'method' | 'params'>): Outgoing {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return { verb: 'POST', path: '', headers: [], body }
}

/** How the subscription that an answer opened is ended; null where it opened none. */
function unsubscribing(request: TopicRequest, said: Said): Outgoing | null {
  if (said.kind !== 'answer') return null
  const how = request.unsubscribe(said.at({ path: [], encoding: 'text' }))
  return how && outgoingOf(how)
}

/** @throws NodeRefused */
function readAnswer(
  subscription: UpstreamSubscription,
  failures: FailureTable,
  url: SocketUrl,
): Said {
  const { reply } = subscription
  const said = readSaid(reply)
  if (said?.kind === 'answer') return said
  subscription.close(null)
  if (said?.kind !== 'error') throw new NodeRefused(notAnAnswer, true)
  const { name, retry, holdOff } = failures.ofNodeError(said.error)
  if (holdOff) url.cooldown.begin(null)
  const error = memberBytes(reply.body as Uint8Array, 'error') ?? notAnAnswer
  throw new NodeRefused(url.mask.bytes(error), retry || holdOff, notOffered.has(name))
}

/** By the names of `specs/failures`: the node has no such method or subscription. */
const notOffered: ReadonlySet<string> = new Set([
  'method-not-found',
  'method-unavailable',
  'filter-not-found',
])
const notAnAnswer = Buffer.from('{"code":-32603,"message":"not an answer"}')

function readSaid(reply: Incoming): Said | null {
  const { body } = reply
  if (body instanceof Uint8Array) return jsonRpcDialect.read({ ...reply, body })
  release(body)
  return null
}
