// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Attributes } from '@opentelemetry/api'
import type { ApiInterface } from '../../config/types.ts'
import type { CallEnd } from '../../listener/listener.ts'
import type { Call } from '../../relay/call.ts'
import { memo, outcomeOf } from '../call-counters.ts'

/*
 * Names and values of the semantic conventions for RPC (of JSON-RPC and gRPC; REST has those of HTTP beside them), and the
 * router's own under `rpc_router`. No path, parameter or URL is among them.
 */

export interface Served {
  readonly chain: string
  readonly interface: ApiInterface
}

const systems: Readonly<Record<ApiInterface, string>> = {
  jsonrpc: 'jsonrpc',
  tendermintrpc: 'jsonrpc',
  grpc: 'grpc',
  rest: 'rest',
}
const codes =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  )
/** Of gRPC: those that a server is to blame for; the others are about what it was asked. */
const serverFaults = /^(?:UNKNOWN|DEADLINE_EXCEEDED|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS)$/
const maxText = 100

/** What all calls of one method have in common. */
export interface Naming {
  readonly name: string
  readonly attributes: Attributes
}

/** Names the calls of one listener. As many as the spec has methods: what a stranger writes is `_OTHER`. */
export function namingFor(served: Served): (call: Call) => Naming {
  const system = systems[served.interface]
  const own = {
    'rpc.system.name': system,
    'rpc_router.chain': served.chain,
    'rpc_router.interface': served.interface,
  }
  const ofVerb = memo((verb) =>
    memo((method): Naming => {
      const route = method === '' ? null : method
      const named = { ...own, 'rpc.method': route ?? '_OTHER' }
      if (system !== 'rest') return { name: route ?? system, attributes: named }
      return {
        name: route === null ? verb : `${verb} ${route}`,
        attributes: {
          ...named,
          'http.request.method': verb,
          ...(route && { 'http.route': route }),
        },
      }
    }),
  )
  return ({ asked, request }) =>
    ofVerb(system === 'rest' ? request.verb : '')(asked.known ? asked.method : '')
}

/** What a span says of its call, beside its name. */
export function attributesOf(call: Call, served: Served): Attributes {
  const { asked, guid, reader } = call
  const id = reader.ownId && textOf(reader.ownId)
  const version = { 1: '1.0', 2: '2.0' }[reader.form ?? '']
  return {
    'rpc_router.guid': guid,
    // The path of an unknown call of REST holds its parameters.
    ...(!asked.known &&
      served.interface !== 'rest' && { 'rpc.method_original': asked.method.slice(0, maxText) }),
    ...(id && { 'jsonrpc.request.id': id }),
    ...(version && { 'jsonrpc.protocol.version': version }),
  }
}

/** An id as its client means it; empty for none. */
function textOf(json: Uint8Array): string {
  const text = Buffer.from(json.subarray(0, maxText)).toString()
  return text === 'null' ? '' : text.replace(/^"(.*?)"?$/, '$1')
}

/** What failed, as a word of a bounded set: of the router, or of a failure table. Null: nothing. */
export function errorTypeOf(call: Call, end: CallEnd): string | null {
  if (end.kind === 'reply' && end.reply.refusal !== null) return end.reply.refusal.name
  const outcome = outcomeOf(call, end)
  return outcome === 'success' ? null : outcome
}

/** The status that the client got, in the words of its interface; null where it got none. */
export function statusOf(call: Call, end: CallEnd, { interface: of }: Served): string | null {
  if (end.kind === 'error') {
    const { httpStatus, jsonRpcCode, grpcStatus } = end.error.kind
    if (of === 'rest') return String(httpStatus)
    return of === 'grpc' ? (codes[grpcStatus] ?? null) : String(jsonRpcCode)
  }
  if (end.kind !== 'reply') return null
  const { incoming, refusal } = end.reply
  if (of === 'rest') return String(incoming.status)
  if (refusal === null) return of === 'grpc' ? 'OK' : null
  // Of a stream the rest has been read.
  if (!(incoming.body instanceof Uint8Array)) return null
  const finding = call.reader.findingOf?.(incoming) ?? call.reader.read(incoming)
  const code = finding.kind === 'node-error' ? finding.error.code : null
  if (code === null) return null
  return of === 'grpc' ? (codes[code] ?? String(code)) : String(code)
}

/** Whether the call is an error of its server by the conventions. In JSON-RPC each answer with an error is. */
export function isServerError(
  errorType: string | null,
  status: string | null,
  { interface: of }: Served,
): boolean {
  if (errorType === null || errorType === 'abandoned') return false
  if (of === 'rest') return Number(status) >= 500
  return of === 'grpc' && status !== null ? serverFaults.test(status) : true
}

/** Where an origin of the config is: `server.address` and `server.port`. */
export const serverOf = memo((origin): Attributes => {
  const address = origin.replace(/^\w+:\/\//, '')
  if (!URL.canParse(origin)) return { 'server.address': address }
  const { hostname, port, protocol } = new URL(origin)
  const usual = /^(?:https|wss|grpcs):$/.test(protocol) ? 443 : 80
  return {
    'server.address': hostname.replace(/^\[|\]$/g, '') || address,
    'server.port': Number(port) || usual,
  }
})
