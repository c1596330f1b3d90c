// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../../relay/call.ts'
import { noDirectives } from '../../relay/call.ts'
import type { OwnQuestion } from '../../subscription/ask.ts'
import { makeJsonRpcCall, type JsonRpcCallOptions } from './jsonrpc-call.ts'
import { readRequest } from './jsonrpc-request.ts'

const requestHeaders = ['content-type', 'application/json']

/** A question of the router's own, as the call that a client's would be. */
export function makeOwnCall(
  { method, params, prefer, avoid, signal }: OwnQuestion,
  guid: string,
  options: JsonRpcCallOptions,
): Call {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const request = readRequest(body, { start: 0, end: body.length })
  const directives = { ...noDirectives, selectProvider: prefer, blockProviders: avoid }
  const origin = { directives, requestHeaders, internalPath: '', signal }
  return makeJsonRpcCall(request, origin, guid, options)
}
