// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, Question } from '../../chain/types.ts'
import type { CancelSignal } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import { isLight, type Call, type Directives } from '../../relay/call.ts'
import { RelayError } from '../../relay/errors.ts'
import { Journal } from '../../relay/journal.ts'
import type { HeaderList } from '../../upstream/wire.ts'
import type { JoinedRequests } from './joined-requests.ts'
import { idBytes } from './jsonrpc-error.ts'
import { sentForm } from './jsonrpc-outgoing.ts'
import { JsonRpcReplyReader } from './jsonrpc-reply-reader.ts'
import { RequestRefused, type JsonRpcRequest } from './jsonrpc-request.ts'

/** What all calls of one HTTP request, or of one WebSocket, have in common. */
export interface CallOrigin {
  /** An error when they cannot be understood. */
  readonly directives: Directives | RelayError
  readonly requestHeaders: HeaderList
  /** The one of the chain's internal paths that the client called; empty for none of them. */
  readonly internalPath: string
  readonly signal: CancelSignal
}

/** A call whose reader knows how to put the client's id into the answer. */
export interface JsonRpcCall extends Call {
  readonly reader: JsonRpcReplyReader
}

export interface JsonRpcCallOptions {
  readonly iface: ChainInterface
  readonly clock: Clock
}

/** Its params are parsed only when somebody looks at them. */
function questionAt(internalPath: string, request: JsonRpcRequest): Question {
  return {
    apiInterface: request.apiInterface,
    method: request.method,
    get params() {
      return request.params
    },
    internalPath,
  }
}

/**
 * Turns a request into a call.
 * @param joined what it may share a request to an upstream with; null: nothing
 * @throws RequestRefused when the directives make no sense
 */
export function makeJsonRpcCall(
  request: JsonRpcRequest,
  origin: CallOrigin,
  guid: string,
  { iface, clock }: JsonRpcCallOptions,
  joined: JoinedRequests | null = null,
): JsonRpcCall {
  const { directives, requestHeaders, internalPath, signal } = origin
  if (directives instanceof RelayError) throw new RequestRefused(directives, request.id)
  const asked = iface.classify(internalPath === '' ? request : questionAt(internalPath, request))
  const sent = sentForm(request, iface.impliedVersion)
  const isVersion1 = iface.impliedVersion === '1.0' && !request.isVersion2
  const path = asked.internalPath ?? ''
  const journal = new Journal(clock.nowMs())
  // A write is broadcast, a filter belongs to one upstream, and a heavy call holds the others up: these go alone.
  const shared =
    joined && asked.kind === 'read' && asked.stateful === null && isLight({ asked })
      ? { send: joined.sender(sent.id, journal.startedMs), others: joined.others }
      : null
  return {
    guid,
    asked,
    request: { verb: 'POST', path, headers: requestHeaders, body: sent.body },
    reader: new JsonRpcReplyReader(sent.id, idBytes(request.body, request.id), isVersion1),
    directives,
    signal,
    journal,
    ...(shared && { shared }),
  }
}
