// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import { unlessAborted } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import type { Said } from '../upstream/dialect.ts'
import { jsonRpcDialect } from '../upstream/dialects/json.ts'
import type { SocketUrl } from '../upstream/node-url.ts'
import { TransportError, type UpstreamSubscription } from '../upstream/transport.ts'
import { release, type Incoming, type Outgoing } from '../upstream/wire.ts'
import { memberBytes } from './ask.ts'
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

/** A subscription that was asked for, and how many wait for it. */
interface Opening {
  readonly shared: Promise<SharedSource>
  waiting: number
}

/** Opens subscriptions at upstreams: no two of the same at one URL, for some nodes refuse the second. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #openings = new Map<SocketUrl, Map<string, Opening>>()

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  /** @throws TransportError @throws NodeRefused when the node refuses */
  async open(request: TopicRequest, place: SocketPlace, signal: AbortSignal): Promise<Source> {
    const { url } = place
    const limit = new TimeLimit(this.#options.clock, signal, url.timeoutMs ?? openTimeoutMs)
    const key = JSON.stringify([request.method, request.params])
    try {
      for (;;) {
        const other = this.#openings.get(url)?.get(key)
        const opening = other ?? this.#begin(key, request, place, limit.signal)
        const shared = await this.#join(opening, limit.signal).catch((error: unknown) => {
          // When the request of another topic failed it is not known why: this one asks on its own.
          if (other && !limit.signal.aborted) return null
          throw error
        })
        const source = shared?.join(place)
        if (source) return source
      }
    } finally {
      limit.end()
    }
  }

  #begin(key: string, request: TopicRequest, place: SocketPlace, signal: AbortSignal): Opening {
    const { failures, observer } = this.#options
    const atUrl = this.#openings.get(place.url) ?? new Map<string, Opening>()
    this.#openings.set(place.url, atUrl)
    const ask = async () => {
      try {
        const subscription = await place.url.transport.subscribe(outgoingOf(request), signal)
        const answer = readAnswer(subscription, failures, place)
        observer.upstreamChanged(place.upstream.name, 1)
        return new SharedSource({ subscription, answer, request }, () => {
          atUrl.delete(key)
          observer.upstreamChanged(place.upstream.name, -1)
        })
      } catch (error) {
        atUrl.delete(key)
        throw error
      }
    }
    const opening = { shared: ask(), waiting: 0 }
    atUrl.set(key, opening)
    return opening
  }

  /** What was sent is answered some time: when nobody waits for it any more, it is ended then. */
  async #join(opening: Opening, signal: AbortSignal): Promise<SharedSource> {
    opening.waiting += 1
    try {
      return await unlessAborted(
        opening.shared,
        signal,
        () => new TransportError('aborted', 'taken back'),
      )
    } finally {
      opening.waiting -= 1
      if (signal.aborted)
        opening.shared.then(
          (shared) => {
            if (opening.waiting === 0) shared.closeIfUnused()
          },
          () => {},
        )
    }
  }
}

interface OpenSubscription {
  readonly subscription: UpstreamSubscription
  readonly answer: Said
  readonly request: TopicRequest
}

/** A subscription at an upstream that several listen to. It ends when the last one has left. */
class SharedSource {
  readonly #open: OpenSubscription
  readonly #ended: () => void
  readonly #members = new Map<Source, SourceListener | null>()
  #isOpen = true
  #isListening = false

  constructor(open: OpenSubscription, ended: () => void) {
    this.#open = open
    this.#ended = ended
  }

  /** @returns null when it has ended */
  join(place: SocketPlace): Source | null {
    if (!this.#isOpen) return null
    const member: Source = {
      place,
      listen: (listener) => {
        this.#members.set(member, listener)
        if (!this.#isListening) this.#listen(place)
      },
      close: (isOver = false) => {
        if (this.#members.delete(member) && (this.#members.size === 0 || isOver))
          this.#close(isOver)
      },
    }
    this.#members.set(member, null)
    return member
  }

  closeIfUnused(): void {
    if (this.#members.size === 0) this.#close(false)
  }

  #listen({ url }: SocketPlace): void {
    this.#isListening = true
    const { subscription, request } = this.#open
    subscription.listen({
      event: (result) => {
        const event = request.isNamed ? result : url.mask.bytes(result)
        for (const listener of [...this.#members.values()]) listener?.event(event)
      },
      lost: ({ fault, message }) => {
        if (!this.#isOpen) return
        this.#end()
        for (const listener of [...this.#members.values()]) listener?.lost(`${fault}: ${message}`)
      },
    })
  }

  #close(isOver: boolean): void {
    if (!this.#isOpen) return
    this.#end()
    const { subscription, answer, request } = this.#open
    subscription.close(isOver ? null : unsubscribing(request, answer))
  }

  #end(): void {
    this.#isOpen = false
    this.#ended()
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
  { url }: SocketPlace,
): Said {
  const { reply } = subscription
  const said = readSaid(reply)
  if (said?.kind === 'answer') return said
  subscription.close(null)
  if (said?.kind !== 'error') throw new NodeRefused(notAnAnswer, true)
  const failure = failures.ofNodeError(said.error)
  if (failure.holdOff) url.cooldown.begin(null)
  const error = memberBytes(reply.body as Uint8Array, 'error') ?? notAnAnswer
  throw new NodeRefused(url.mask.bytes(error), failure.retry || failure.holdOff)
}

const notAnAnswer = Buffer.from('{"code":-32603,"message":"not an answer"}')

function readSaid(reply: Incoming): Said | null {
  const { body } = reply
  if (body instanceof Uint8Array) return jsonRpcDialect.read({ ...reply, body })
  release(body)
  return null
}
