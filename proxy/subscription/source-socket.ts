// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import { quotedFrom } from '../relay/quoted.ts'
import type { Said } from '../upstream/dialect.ts'
import { jsonRpcDialect } from '../upstream/dialects/json-rpc.ts'
import type { UpstreamSubscription } from '../upstream/socket-transport.ts'
import { release, type Incoming, type Outgoing } from '../upstream/wire.ts'
import { memberOf } from './ask.ts'
import type { SocketPlace } from './places.ts'
import { NodeRefused } from './subscriptions.ts'
import type { Topic } from './topic.ts'

/** How long an upstream may take to say yes. */
const openTimeoutMs = 10_000

/** How a topic is asked for. */
export type TopicRequest = Pick<Topic, 'isNamed' | 'method' | 'params' | 'unsubscribe'>

export interface SocketSourceOptions {
  readonly failures: FailureTable
  readonly clock: Clock
}

/** An upstream that tells of a topic. */
export interface SocketSource {
  readonly place: SocketPlace
  /** Begins to listen. What has come since the request is told first. */
  listen(hears: { event(result: Uint8Array): void; lost(why: string): void }): void
  /** @param isOver the upstream has ended the subscription itself */
  close(isOver?: boolean): void
}

/**
 * Subscribes at one place.
 * @throws TransportError
 * @throws NodeRefused when the node says no
 */
export async function openSocketSource(
  request: TopicRequest,
  place: SocketPlace,
  signal: AbortSignal,
  { failures, clock }: SocketSourceOptions,
): Promise<SocketSource> {
  const limit = new TimeLimit(clock, signal, place.url.timeoutMs ?? openTimeoutMs)
  try {
    signal.throwIfAborted()
    const outgoing = outgoingOf(request)
    const undo = (reply: Incoming) => unsubscribing(request, saidIn(reply))
    const subscription = await place.url.transport.subscribe(outgoing, limit.signal, undo)
    const unsubscribe = unsubscribing(request, readReply(subscription, outgoing, failures, place))
    return {
      place,
      listen({ event, lost }) {
        subscription.listen({
          notified: ({ result }) => {
            event(request.isNamed ? result : place.url.mask.bytes(result))
          },
          lost: ({ fault, message }) => {
            lost(`${fault}: ${message}`)
          },
        })
      },
      close(isOver = false) {
        subscription.close(isOver ? null : unsubscribe)
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

type Answered = Extract<Said, { kind: 'answer' }>

/** How what an answer opened is ended; null where it opened nothing. */
function unsubscribing(request: TopicRequest, said: Said | null): Outgoing | null {
  if (said?.kind !== 'answer') return null
  const how = request.unsubscribe(said.at({ path: [], encoding: 'text' }))
  return how && outgoingOf(how)
}

/** @throws NodeRefused */
function readReply(
  subscription: UpstreamSubscription,
  request: Outgoing,
  failures: FailureTable,
  { url }: SocketPlace,
): Answered {
  const { reply } = subscription
  const said = saidIn(reply)
  if (said?.kind === 'answer') return said
  subscription.close(null)
  if (said?.kind !== 'error') throw new NodeRefused(notAnAnswer, true)
  const failure = failures.ofNodeError(said.error, quotedFrom(request))
  if (failure.holdOff) url.holdOff.begin(null)
  const error = memberOf(reply.body as Uint8Array, '"error"') ?? notAnAnswer
  throw new NodeRefused(url.mask.bytes(error), failure.retry || failure.holdOff)
}

const notAnAnswer = Buffer.from('{"code":-32603,"message":"not an answer"}')

function saidIn(reply: Incoming): Said | null {
  const { body } = reply
  if (body instanceof Uint8Array) return jsonRpcDialect.read({ ...reply, body })
  release(body)
  return null
}
