// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomUUID } from 'node:crypto'
import type { ChainInterface } from '../../chain/types.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import { grpcReplyReader } from '../../listener/grpc/grpc-messages.ts'
import { faultOfPath } from '../../listener/http/http-exchange.ts'
import { makeJsonRpcCall, ownHeaders } from '../../listener/jsonrpc/jsonrpc-call.ts'
import { JsonRpcRequest } from '../../listener/jsonrpc/jsonrpc-request.ts'
import { RestReplyReader } from '../../listener/rest/rest-reply-reader.ts'
import { uriCall } from '../../listener/tendermint.ts'
import { type Call, Journal, noDirectives } from '../../relay/call.ts'
import { RelayError } from '../../relay/errors.ts'
import { soleMessage } from '../../upstream/dialect.ts'
import type { Outgoing } from '../../upstream/wire.ts'
import { BadRecording } from './read-recording.ts'

/** A request as it is in a recording, all of it. */
type Request = Pick<Outgoing, 'verb' | 'path'> & { readonly body: Uint8Array | null }

/**
 * A call as the listener of its interface makes it of this request, classified by the spec of today.
 * @throws BadRecording where no listener takes the request
 */
export function callOf(request: Request, iface: ChainInterface, clock: Clock, line: number): Call {
  try {
    const fault = faultOfPath(request.path)
    if (fault) throw fault
    return makeCall(request, iface, clock)
  } catch (error) {
    if (error instanceof RelayError) throw new BadRecording(`request: ${error.message}`, line)
    throw error
  }
}

function makeCall(request: Request, iface: ChainInterface, clock: Clock): Call {
  const { path, body } = request
  const { apiInterface } = iface
  const common = { guid: randomUUID(), directives: noDirectives, signal: new Cancellation() }
  if (body && (apiInterface === 'jsonrpc' || apiInterface === 'tendermintrpc')) {
    const read = new JsonRpcRequest(body, { start: 0, end: body.length })
    const origin = { ...common, requestHeaders: ownHeaders, internalPath: path }
    return makeJsonRpcCall(read, origin, common.guid, { iface, clock })
  }
  const { asked, reader, headers } = readPath(request, iface)
  const outgoing = { ...request, headers, awaitsMessage: apiInterface === 'grpc' }
  return { ...common, asked, reader, request: outgoing, journal: new Journal(clock.nowMs()) }
}

/** For interfaces that know a call by its path. */
function readPath({ verb, path: target, body }: Request, iface: ChainInterface) {
  const { apiInterface } = iface
  const header = () => null
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2)
  if (apiInterface === 'grpc') {
    const message = (body && soleMessage(body)) ?? new Uint8Array()
    const asked = iface.classify({ apiInterface, method: path.slice(1), header, message })
    return { asked, reader: grpcReplyReader, headers: ['content-type', 'application/grpc'] }
  }
  if (apiInterface !== 'rest')
    return { ...uriCall(iface, verb, path, query), headers: ['accept', '*/*'] }
  const json = 'application/json'
  const asked = iface.classify({ apiInterface, verb, path, query, header })
  const reader = new RestReplyReader(verb, asked.answersJson, json)
  return { asked, reader, headers: ['content-type', json, 'accept', json] }
}
