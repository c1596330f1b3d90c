// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Attributes } from '@opentelemetry/api'
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

export type Described = ReturnType<typeof describeAttempt>

const grpcCodes =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  )
/** Of gRPC: those that a server is to blame for, or none; the others are about what it was asked. */
const serverFaults = new Set([null, 2, 4, 12, 13, 14, 15])
const maxText = 100

/** What spans and durations say of a call: values of bounded sets, since a method that a stranger made up is `_OTHER`. */
export function describeCall(call: Call, end: CallEnd, served: Served): Described {
  const { interface: of } = served
  const status = statusOf(call, end, of)
  const outcome = outcomeOf(call, end)
  const refusal = end.kind === 'reply' ? end.reply.refusal : null
  const errorType = refusal?.name ?? (outcome === 'success' ? null : outcome)
  const { name, own } = naming(call, served, 'http.route')
  // In JSON-RPC each answer with an error is one of its server.
  const isFault = of === 'rest' ? Number(status) >= 500 : of !== 'grpc' || serverFaults.has(status)
  const isError = errorType !== null && outcome !== 'abandoned' && isFault
  return { name, attributes: { ...own, ...ending(status, errorType, of) }, errorType, isError }
}

/** The same of an attempt. */
export function describeAttempt(call: Call, attempt: AttemptRecord, served: Served) {
  const { upstream, origin, result, detail, httpStatus, code } = attempt
  const status = served.interface === 'rest' ? httpStatus : code
  const failure = typeof result === 'object' ? (result?.name ?? null) : null
  const errorType = result === 'node-error' ? (detail ?? result) : failure
  const { name, own } = naming(call, served, 'url.template')
  const at: Attributes = { ...own, 'rpc_router.upstream': upstream, ...serverOf(origin) }
  const attributes = { ...at, ...ending(status, errorType, served.interface) }
  // `errorType` is a word of a bounded set. What was not wanted any more is no error.
  return { name, attributes, errorType, isError: errorType !== null }
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

function naming({ asked, request: { verb } }: Call, served: Served, template: string) {
  const method = asked.known ? asked.method : ''
  const own = { 'rpc_router.chain': served.chain, 'rpc_router.interface': served.interface }
  if (served.interface === 'rest') {
    const name = method ? `${verb} ${method}` : verb
    return {
      name,
      own: { ...own, 'http.request.method': verb, ...(method && { [template]: method }) },
    }
  }
  const system = served.interface === 'grpc' ? 'grpc' : 'jsonrpc'
  const rpc = { 'rpc.system.name': system, 'rpc.method': method || '_OTHER' }
  return { name: method || system, own: { ...own, ...rpc } }
}

/** The status that the client got: of HTTP in REST, of gRPC, or the code of an error in JSON-RPC. Null: it got none. */
function statusOf({ reader }: Call, end: CallEnd, of: ApiInterface): number | null {
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
function ending(status: number | null, errorType: string | null, of: ApiInterface): Attributes {
  const failed: Attributes = errorType === null ? {} : { 'error.type': errorType }
  if (of === 'rest') return { ...failed, ...(status && { 'http.response.status_code': status }) }
  // JSON-RPC has no code of success.
  if (status === null || (status === 0 && of !== 'grpc')) return failed
  const word = of === 'grpc' ? grpcCodes[status] : undefined
  return { ...failed, 'rpc.status_code': word ?? String(status) }
}

/** Where an origin of the config is: `server.address` and `server.port`. */
const serverOf = memo((origin): Attributes => {
  const address = origin.replace(/^\w+:\/\//, '')
  const url = URL.parse(origin)
  if (url === null) return address ? { 'server.address': address } : {}
  const usual = /^(?:https|wss|grpcs):$/.test(url.protocol) ? 443 : 80
  return {
    'server.address': url.hostname.replace(/^\[|\]$/g, '') || address,
    'server.port': Number(url.port) || usual,
  }
})
