// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectCursor } from '../json/object-cursor.ts'
import { bufferOf, isNamed } from '../json/text.ts'
import { spaceEnd } from '../json/value.ts'
import type { Call } from '../relay/call.ts'
import type { Relay } from '../relay/step.ts'
import { wholeBody } from '../upstream/whole-body.ts'
import { release } from '../upstream/wire.ts'
import { NodeError } from './failures.ts'
import { Turns } from './turns.ts'

/** A question of the router's own, on behalf of a subscription. */
export interface OwnQuestion {
  readonly method: string
  readonly params: unknown
  /** Rather this upstream. */
  readonly prefer: string | null
  /** Not these, which were asked before. */
  readonly avoid: readonly string[]
  readonly signal: AbortSignal
}

/** Makes the call of a question, as the listener would for a client. */
export type NewOwnCall = (question: OwnQuestion) => Call

export interface Answer {
  /** The `result`, JSON. */
  readonly result: Uint8Array
  readonly upstream: string
}

/** Asks the chain over the relay. @throws NodeError @throws RelayError @throws CallAborted */
export type Ask = (question: OwnQuestion) => Promise<Answer>

/**
 * A thousand filters have a thousand questions about each block. So many go out at once: the calls of
 * clients find sessions and sockets free.
 */
const mostAtOnce = 64
/** Longer answers are not taken: no block of any chain is. */
const mostBytes = 64 * 1024 * 1024
/** Of a node's error, for the log. */
const mostShownBytes = 200

export function createAsk(relay: Relay, newCall: NewOwnCall): Ask {
  const turns = new Turns(mostAtOnce)
  const ask = async (question: OwnQuestion): Promise<Answer> => {
    const { incoming, upstream, refusal } = await relay(newCall(question))
    if (refusal) {
      release(incoming.body)
      throw new NodeError(`${question.method}: ${refusal.name}`)
    }
    const body = await wholeBody(incoming.body, mostBytes)
    if (body === null) throw new NodeError(`${question.method}: more than ${mostBytes} bytes`)
    const result = memberOf(body, '"result"')
    if (result === null) throw new NodeError(`${question.method}: ${said(body)}`)
    return { result, upstream }
  }
  return (question) => turns.take(question.signal, () => ask(question))
}

/** What an answer without a result says instead, as the node wrote it. */
function said(body: Uint8Array): string {
  const error = memberOf(body, '"error"')
  if (error === null) return 'an answer without a result'
  return bufferOf(error.subarray(0, mostShownBytes)).toString()
}

/** The bytes of a member of the object that a document is; null where it has none. */
export function memberOf(document: Uint8Array, name: string): Uint8Array | null {
  const start = spaceEnd(document, 0)
  if (document[start] !== 0x7b) return null
  const cursor = new ObjectCursor(document, start)
  while (cursor.next())
    if (isNamed(document, cursor.nameStart, cursor.nameEnd, name))
      return bufferOf(document).subarray(cursor.valueStart, cursor.valueEnd)
  return null
}
