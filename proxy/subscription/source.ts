// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import type { Said } from '../upstream/dialect.ts'
import { jsonRpcDialect } from '../upstream/dialects/json-rpc.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import type { UpstreamSubscription } from '../upstream/socket-transport.ts'
import { release, type Incoming, type Outgoing } from '../upstream/wire.ts'
import { memberOf } from './ask.ts'
import type { SocketPlace } from './socket-urls.ts'
import { NodeRefused, type SubscriptionObserver, type TopicRequest } from './subscriptions.ts'

/** How long an upstream may take to answer before another one is asked. */
const openTimeoutMs = 5_000

export interface SourceListener {
  event(result: Uint8Array): void
  lost(why: string): void
}

/** One subscription at one upstream. */
export interface Source {
  readonly place: SocketPlace
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
  readonly #open = new Map<SocketUrl, Map<string, Promise<SharedSource>>>()

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  /** @throws TransportError @throws NodeRefused when the node refuses */
  async open(request: TopicRequest, place: SocketPlace, signal: AbortSignal): Promise<Source> {
    const key = JSON.stringify([request.method, request.params])
    const atUrl = this.#open.get(place.url) ?? new Map<string, Promise<SharedSource>>()
    this.#open.set(place.url, atUrl)
    for (let other = atUrl.get(key); other; other = atUrl.get(key)) {
      // When the other one fails it is not known why: this one asks on its own.
      const shared = await other.catch(() => null)
      if (shared?.isOpen) return shared.join(place)
    }
    const { observer } = this.#options
    const opening = openSubscription(request, place, signal, this.#options).then((opened) => {
      observer.upstreamChanged(place.upstream.name, 1)
      return new SharedSource(opened, () => {
        atUrl.delete(key)
        observer.upstreamChanged(place.upstream.name, -1)
      })
    })
    atUrl.set(key, opening)
    try {
      return (await opening).join(place)
    } catch (error) {
      atUrl.delete(key)
      throw error
    }
  }
}

interface OpenSubscription {
  listen(listener: SourceListener): void
  close(isOver: boolean): void
}

/** A subscription at an upstream that several listen to. It ends when the last one has left. */
class SharedSource {
  isOpen = true
  readonly #subscription: OpenSubscription
  readonly #ended: () => void
  readonly #members = new Set<Source>()
  readonly #listeners = new Map<Source, SourceListener>()

  constructor(subscription: OpenSubscription, ended: () => void) {
    this.#subscription = subscription
    this.#ended = ended
  }

  join(place: SocketPlace): Source {
    const member: Source = {
      place,
      listen: (listener) => {
        const isFirst = this.#listeners.size === 0
        this.#listeners.set(member, listener)
        if (isFirst) this.#listen()
      },
      close: (isOver = false) => {
        this.#listeners.delete(member)
        if (!this.#members.delete(member) || !this.isOpen) return
        if (this.#members.size > 0 && !isOver) return
        this.#end()
        this.#subscription.close(isOver)
      },
    }
    this.#members.add(member)
    return member
  }

  #listen(): void {
    this.#subscription.listen({
      event: (result) => {
        for (const listener of [...this.#listeners.values()]) listener.event(result)
      },
      lost: (why) => {
        if (!this.isOpen) return
        this.#end()
        for (const listener of [...this.#listeners.values()]) listener.lost(why)
      },
    })
  }

  #end(): void {
    this.isOpen = false
    this.#ended()
  }
}

async function openSubscription(
  request: TopicRequest,
  place: SocketPlace,
  signal: AbortSignal,
  { failures, clock }: SourcesOptions,
): Promise<OpenSubscription> {
  const { url } = place
  const limit = new TimeLimit(clock, signal, url.timeoutMs ?? openTimeoutMs)
  try {
    signal.throwIfAborted()
    const outgoing = outgoingOf(request)
    const undo = (reply: Incoming) => unsubscribing(request, readSaid(reply))
    const subscription = await url.transport.subscribe(outgoing, limit.signal, undo)
    const answer = readAnswer(subscription, failures, place)
    return {
      listen({ event, lost }) {
        subscription.listen({
          notified: ({ result }) => {
            event(request.isNamed ? result : url.mask.bytes(result))
          },
          lost: ({ fault, message }) => {
            lost(`${fault}: ${message}`)
          },
        })
      },
      close(isOver) {
        subscription.close(isOver ? null : unsubscribing(request, answer))
      },
    }
  } finally {
    limit.end()
  }
}

function outgoingOf({ method, params }: Pick<TopicRequest, 'method' | 'params'>): Outgoing {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return { verb: 'POST', path: '', headers: [], body }
}

/** How the subscription that an answer opened is ended; null where it opened none. */
function unsubscribing(request: TopicRequest, said: Said | null): Outgoing | null {
  if (said?.kind !== 'answer') return null
  const how = request.unsubscribe(said.at({ path: [], encoding: 'text' }))
  return how && outgoingOf(how)
}

/** @throws NodeRefused */
function readAnswer(
  subscription: UpstreamSubscription,
  failures: FailureTable,
  { url }: SocketPlace,
): Said {
  const { reply } = subscription
  const said = readSaid(reply)
  if (said?.kind === 'answer') return said
  subscription.close(null)
  if (said?.kind !== 'error') throw new NodeRefused(notAnAnswer, true)
  const failure = failures.ofNodeError(said.error)
  if (failure.holdOff) url.holdOff.begin(null)
  const error = memberOf(reply.body as Uint8Array, '"error"') ?? notAnAnswer
  throw new NodeRefused(url.mask.bytes(error), failure.retry || failure.holdOff)
}

const notAnAnswer = Buffer.from('{"code":-32603,"message":"not an answer"}')

function readSaid(reply: Incoming): Said | null {
  const { body } = reply
  if (body instanceof Uint8Array) return jsonRpcDialect.read({ ...reply, body })
  release(body)
  return null
}
