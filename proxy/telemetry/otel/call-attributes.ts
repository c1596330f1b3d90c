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

const codes =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  )
/** Of gRPC: those that a server is to blame for; the others are about what it was asked. */
const serverFaults = new Set([2, 4, 12, 13, 14, 15])
const maxText = 100

/** What all calls of one method have in common, in spans and metrics. */
export interface Naming {
  readonly name: string
  readonly server: Attributes
  readonly client: Attributes
}

/** Names the calls of one listener. As many as the spec has methods: what a stranger writes is `_OTHER`. */
export function namingFor(served: Served): (call: Call) => Naming {
  const own = { 'rpc_router.chain': served.chain, 'rpc_router.interface': served.interface }
  const system = served.interface === 'grpc' ? 'grpc' : 'jsonrpc'
  const ofRpc = memo((method): Naming => {
    const both = { ...own, 'rpc.system.name': system, 'rpc.method': method || '_OTHER' }
    return { name: method || system, server: both, client: both }
  })
  const ofVerb = memo((verb) =>
    memo((route): Naming => {
      const both = { ...own, 'http.request.method': verb }
      if (route === '') return { name: verb, server: both, client: both }
      const server = { ...both, 'http.route': route }
      return { name: `${verb} ${route}`, server, client: { ...both, 'url.template': route } }
    }),
  )
  return ({ asked, request }) => {
    const method = asked.known ? asked.method : ''
    return served.interface === 'rest' ? ofVerb(request.verb)(method) : ofRpc(method)
  }
}

/** What the spans of a call say of it, beside its name. */
export function attributesOf({ asked, guid, reader }: Call): Attributes {
  const { ownId, form = '' } = reader
  if (!ownId) return { 'rpc_router.guid': guid }
  const id = textOf(ownId)
  const version = { 1: '1.0', 2: '2.0' }[form]
  return {
    'rpc_router.guid': guid,
    // Only a body of JSON-RPC names a method. What no spec knows elsewhere is a path, which may hold a parameter or a key.
    ...(!asked.known && { 'rpc.method_original': asked.method.slice(0, maxText) }),
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

/** Null: it was answered, or was not wanted any more. */
export function errorTypeOfAttempt({ result, detail }: AttemptRecord): string | null {
  if (result === 'node-error') return detail ?? result
  return typeof result === 'object' ? (result?.name ?? null) : null
}

/** The status that the client got: of HTTP in REST, of gRPC, or the code of an error in JSON-RPC. Null: it got none. */
export function statusOf(call: Call, end: CallEnd, { interface: of }: Served): number | null {
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
  const finding = call.reader.findingOf?.(incoming) ?? call.reader.read(incoming)
  return finding.kind === 'node-error' ? finding.error.code : null
}

/** How a call or an attempt ended. */
export function endAttributes(
  status: number | null,
  errorType: string | null,
  { interface: of }: Served,
): Attributes {
  const failed = errorType === null ? {} : { 'error.type': errorType }
  if (of === 'rest') return { ...failed, ...(status && { 'http.response.status_code': status }) }
  // JSON-RPC has no code of success.
  if (status === null || (status === 0 && of !== 'grpc')) return failed
  const word = of === 'grpc' ? codes[status] : undefined
  return { ...failed, 'rpc.status_code': word ?? String(status) }
}

/** What spans and metrics say of an attempt. */
export function attributesOfAttempt(attempt: AttemptRecord, served: Served): Attributes {
  const status = served.interface === 'rest' ? attempt.httpStatus : attempt.code
  return {
    'rpc_router.upstream': attempt.upstream,
    ...serverOf(attempt.origin),
    ...endAttributes(status, errorTypeOfAttempt(attempt), served),
  }
}

/** Whether the call is an error of its server by the conventions. In JSON-RPC each answer with an error is. */
export function isServerError(
  errorType: string | null,
  status: number | null,
  { interface: of }: Served,
): boolean {
  if (errorType === null || errorType === 'abandoned') return false
  if (of === 'rest') return Number(status) >= 500
  return of === 'grpc' && status !== null ? serverFaults.has(status) : true
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
