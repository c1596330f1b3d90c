// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Attributes } from '@opentelemetry/api'
// The package's entry would load all of gRPC.
import { Status } from '@grpc/grpc-js/build/src/constants.js'
import type { ApiInterface } from '../../config/types.ts'
import type { CallEnd } from '../../listener/listener.ts'
import type { AttemptRecord, Call } from '../../relay/call.ts'
import { readStatus } from '../../upstream/dialect.ts'
import { memo, outcomeOf } from '../call-counters.ts'

/*
 * Names and values of the semantic conventions: of those for RPC (of JSON-RPC and gRPC), for REST of those for HTTP; and the
 * router's own under `rpc_router`. No path, parameter or URL is among them.
 */

export interface Served {
  readonly chain: string
  readonly interface: ApiInterface
}

/** What spans and durations say of a call, or of an attempt: values of bounded sets, since a stranger's method is `_OTHER`. */
export interface Described {
  readonly name: string
  readonly attributes: Attributes
  /** What failed, as a word of a bounded set: of the router, or of a failure table. Null: nothing. */
  readonly errorType: string | null
  /** It is an error by the conventions. */
  readonly isError: boolean
}

/** Of gRPC: those that a server is to blame for; the others are about what it was asked. */
const serverFaults = new Set<number | null>([
  ...[Status.UNKNOWN, Status.DEADLINE_EXCEEDED, Status.UNIMPLEMENTED],
  ...[Status.INTERNAL, Status.UNAVAILABLE, Status.DATA_LOSS],
])
const maxText = 100

export function describeCall(call: Call, end: CallEnd, served: Served): Described {
  const status = statusOf(call, end, served)
  const outcome = outcomeOf(call, end)
  const refusal = end.kind === 'reply' ? end.reply.refusal : null
  const errorType = refusal?.name ?? (outcome === 'success' ? null : outcome)
  const { name, attributes } = naming(call, served, 'http.route')
  return {
    ...{ name, errorType },
    attributes: { ...attributes, ...ending(status, errorType, served) },
    isError: errorType !== null && outcome !== 'abandoned' && isServerFault(status, served),
  }
}

export function describeAttempt(call: Call, attempt: AttemptRecord, served: Served): Described {
  const { upstream, origin, result, detail, httpStatus, code } = attempt
  // One that was answered, or was not wanted any more, is no error.
  const failure = typeof result === 'object' ? (result?.name ?? null) : null
  const errorType = result === 'node-error' ? (detail ?? result) : failure
  const { name, attributes } = naming(call, served, 'url.template')
  return {
    ...{ name, errorType, isError: errorType !== null },
    attributes: {
      ...attributes,
      'rpc_router.upstream': upstream,
      ...serverOf(origin),
      ...ending(served.interface === 'rest' ? httpStatus : code, errorType, served),
    },
  }
}

/** What spans say of a call beside that, and durations do not, since anybody may choose the values. */
export function identify({ asked, guid, reader }: Call): Attributes {
  const { ownId, form = '' } = reader
  // Only a body of JSON-RPC has an id. What no spec knows elsewhere is a path, which may hold a parameter or a key.
  if (!ownId) return { 'rpc_router.guid': guid }
  const id = Buffer.from(ownId.subarray(0, maxText)).toString()
  const version = { 1: '1.0', 2: '2.0' }[form]
  return {
    'rpc_router.guid': guid,
    ...(!asked.known && { 'rpc.method_original': asked.method.slice(0, maxText) }),
    ...(id !== 'null' && { 'jsonrpc.request.id': id.replace(/^"(.*?)"?$/, '$1') }),
    ...(version && { 'jsonrpc.protocol.version': version }),
  }
}

function naming(
  { asked, request: { verb } }: Call,
  served: Served,
  template: 'http.route' | 'url.template',
) {
  const method = asked.known ? asked.method : ''
  const own = { 'rpc_router.chain': served.chain, 'rpc_router.interface': served.interface }
  if (served.interface === 'rest') {
    const route = method && { [template]: method }
    const attributes = { ...own, 'http.request.method': verb, ...(route || {}) }
    return { name: method ? `${verb} ${method}` : verb, attributes }
  }
  const system = served.interface === 'grpc' ? 'grpc' : 'jsonrpc'
  const attributes = { ...own, 'rpc.system.name': system, 'rpc.method': method || '_OTHER' }
  return { name: method || system, attributes }
}

/** The status that the client got: of HTTP in REST, of gRPC, or the code of an error in JSON-RPC. Null: it got none. */
function statusOf({ reader }: Call, end: CallEnd, { interface: of }: Served): number | null {
  if (end.kind === 'error') {
    const { httpStatus, jsonRpcCode, grpcStatus } = end.error.kind
    if (of === 'rest') return httpStatus
    return of === 'grpc' ? grpcStatus : jsonRpcCode
  }
  if (end.kind !== 'reply') return null
  const { incoming, refusal } = end.reply
  if (of === 'rest') return incoming.status
  if (of === 'grpc') return readStatus(incoming)?.code ?? null
  // Of a stream the rest has been read.
  if (refusal === null || !(incoming.body instanceof Uint8Array)) return null
  const finding = reader.read(incoming)
  return finding.kind === 'node-error' ? finding.error.code : null
}

/** How a call or an attempt ended. */
function ending(status: number | null, errorType: string | null, { interface: of }: Served) {
  const failed: Attributes = errorType === null ? {} : { 'error.type': errorType }
  if (of === 'rest') return { ...failed, ...(status && { 'http.response.status_code': status }) }
  // JSON-RPC has no code of success.
  if (status === null || (status === 0 && of !== 'grpc')) return failed
  const word = of === 'grpc' ? Status[status] : undefined
  return { ...failed, 'rpc.status_code': word ?? String(status) }
}

/** Of what failed: in JSON-RPC each answer with an error is an error of its server. */
function isServerFault(status: number | null, { interface: of }: Served): boolean {
  if (of === 'rest') return Number(status) >= 500
  return of !== 'grpc' || status === null || serverFaults.has(status)
}

/** Where an origin of the config is: `server.address` and `server.port`. */
const serverOf = memo((origin): Attributes => {
  const address = origin.replace(/^\w+:\/\//, '')
  if (!URL.canParse(origin)) return address ? { 'server.address': address } : {}
  const { hostname, port, protocol } = new URL(origin)
  const usual = /^(?:https|wss|grpcs):$/.test(protocol) ? 443 : 80
  return {
    'server.address': hostname.replace(/^\[|\]$/g, '') || address,
    'server.port': Number(port) || usual,
  }
})
