// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Span } from '../../json/cursor.ts'
import { CallAborted, RelayError, errorKinds } from '../../relay/errors.ts'
import type { Journal } from '../../relay/journal.ts'
import type { Reply } from '../../relay/reply.ts'
import { release, type Body } from '../../upstream/wire.ts'
import { internal, type Calls } from '../calls.ts'
import type { JoinedRequests } from './joined-requests.ts'
import type { ItemAnswer } from './jsonrpc-batch.ts'
import {
  makeJsonRpcCall,
  type CallOrigin,
  type JsonRpcCall,
  type JsonRpcCallOptions,
} from './jsonrpc-call.ts'
import { errorBytes, idBytes } from './jsonrpc-error.ts'
import { RequestRefused, readRequest, type JsonRpcRequest } from './jsonrpc-request.ts'
import type { ListenerObserver } from '../listener.ts'

/** Where an item came from, and who hears what became of it. */
export interface ItemContext extends CallOrigin {
  /** Hears of the journal of each call that was made, and the upstream's reply where there is one. */
  told(journal: Journal, reply: Reply | null): void
  /**
   * Answers what is about subscriptions; null for what is not.
   * @throws RelayError
   */
  subscribe(request: JsonRpcRequest, call: JsonRpcCall): Promise<ItemAnswer> | null
}

export interface ItemOptions extends JsonRpcCallOptions {
  readonly calls: Calls
  readonly observer: ListenerObserver
}

/**
 * Answers one request among others of a batch or of a WebSocket: with bytes that are JSON-RPC in any
 * case, since anything else would spoil the answers to the others. Never rejects.
 */
export async function answerItem(
  body: Uint8Array,
  span: Span,
  guid: string,
  context: ItemContext,
  options: ItemOptions,
  joined: JoinedRequests | null = null,
): Promise<ItemAnswer> {
  if (context.signal.aborted) return null
  try {
    const request = readRequest(body, span)
    const call = makeJsonRpcCall(request, context, guid, options, joined)
    return await (context.subscribe(request, call) ?? relayItem(request, call, context, options))
  } catch (cause) {
    const error = cause instanceof RelayError ? cause : internal(cause)
    const id = cause instanceof RequestRefused ? cause.id : null
    options.observer.requestRefused(error, guid)
    return errorBytes(error.kind, error.message, idBytes(body, id), guid)
  }
}

async function relayItem(
  request: JsonRpcRequest,
  call: JsonRpcCall,
  context: ItemContext,
  { calls }: ItemOptions,
): Promise<ItemAnswer> {
  const outcome = settled(call, await calls.run(call))
  if (outcome instanceof RelayError) {
    calls.ended(call, outcome)
    context.told(call.journal, null)
    return request.isNotification ? null : errorAnswer(request, outcome, call.guid)
  }
  if (!(outcome instanceof CallAborted)) {
    context.told(call.journal, outcome)
    if (!request.isNotification) return itemBody(call, outcome, calls)
    release(outcome.incoming.body)
  }
  calls.ended(call, outcome)
  return null
}

/** An error of the router's own, as the answer to this request. */
export function errorAnswer(
  { body, id }: JsonRpcRequest,
  { kind, message }: RelayError,
  guid: string,
): Uint8Array {
  return errorBytes(kind, message, idBytes(body, id), guid)
}

/** A call whose answer streams ends with its stream. */
function itemBody(call: JsonRpcCall, reply: Reply, calls: Calls): Body {
  const body = bodyOf(call, reply)
  if (body instanceof Uint8Array) {
    calls.ended(call, reply)
    return body
  }
  return calls.endingWith(body, call, reply)
}

/** What is no JSON-RPC is an error of the router's own. */
function settled(
  call: JsonRpcCall,
  outcome: Reply | RelayError | CallAborted,
): Reply | RelayError | CallAborted {
  if (outcome instanceof RelayError || outcome instanceof CallAborted) return outcome
  // What streams was found to be an answer, or nobody could have passed it on.
  if (!(outcome.incoming.body instanceof Uint8Array)) return outcome
  const finding = call.reader.findingOf(outcome.incoming)
  if (finding.kind !== 'malformed') return outcome
  const { status } = outcome.incoming
  return new RelayError(
    errorKinds.upstreamFailed,
    `the upstream answered with HTTP status ${status} and ${finding.why}`,
  )
}

/** The upstream's bytes, in the terms of the client's request. */
export function bodyOf(call: JsonRpcCall, { incoming }: Reply): Body {
  const { body } = incoming
  return body instanceof Uint8Array ? call.reader.bytesOf(incoming, body) : body
}
