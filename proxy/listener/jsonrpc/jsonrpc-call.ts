// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { MethodSpec } from '../../chain/types.ts'
import type { CancelSignal } from '../../clock/cancellation.ts'
import { bufferOf, type Span } from '../../json/scanner.ts'
import {
  type Call,
  type Client,
  type Directives,
  isLight,
  isRead,
  Journal,
  noDirectives,
} from '../../relay/call.ts'
import { RelayError } from '../../relay/errors.ts'
import type { OwnQuestion } from '../../subscription/ask.ts'
import type { BatchToken, HeaderList } from '../../upstream/wire.ts'
import type { ListenerOptions } from '../listener.ts'
import { JsonRpcReplyReader } from './jsonrpc-reply-reader.ts'
import { JsonRpcRequest, RequestRefused } from './jsonrpc-request.ts'

/** State shared by all calls of one HTTP request, or of one WebSocket. */
export interface CallOrigin {
  /** An error if the directives are invalid. */
  readonly directives: Directives | RelayError
  readonly requestHeaders: HeaderList
  /** The chain's internal path that the client called; empty if none. */
  readonly internalPath: string
  readonly signal: CancelSignal
  readonly client?: Client | undefined
  /** Whether the connection has other calls in flight. */
  readonly isOneOfMany?: boolean
}

/** A call whose reader inserts the client's id into the answer. */
export interface JsonRpcCall extends Call {
  readonly reader: JsonRpcReplyReader
}

type Serving = Pick<ListenerOptions, 'iface' | 'clock'>

/** Headers of every request to an upstream. */
export const ownHeaders: HeaderList = ['content-type', 'application/json']

const routerId = Buffer.from('1')

/**
 * Turns a request into a call.
 * @param token identifies the batch of the call; null: none
 * @throws RequestRefused if the directives are invalid, or if the method is not served
 */
export function makeJsonRpcCall(
  request: JsonRpcRequest,
  origin: CallOrigin,
  guid: string,
  { iface, clock }: Serving,
  token: BatchToken | null = null,
): JsonRpcCall {
  const { directives, requestHeaders, internalPath, signal, client } = origin
  if (directives instanceof RelayError) throw new RequestRefused(directives, request)
  request.internalPath = internalPath
  const method = classify(request, iface)
  const { ownId } = request
  const sentId = isEchoed(request) ? ownId : routerId
  const isVersion1 = iface.impliedVersion === '1.0' && !request.isVersion2
  const journal = new Journal(clock.nowMs())
  journal.isOneOfMany = token !== null || origin.isOneOfMany === true
  // Only plain reads are joined: writes are broadcast, filters have a node, heavy calls are slow.
  const isJoined = isRead({ method }) && method.stateful === null && isLight({ method })
  return {
    guid,
    method,
    request: {
      verb: 'POST',
      path: method.internalPath ?? '',
      headers: requestHeaders,
      body: sentBytes(request, sentId, iface.impliedVersion),
      batch: token && isJoined ? { token, id: sentId } : undefined,
    },
    reader: new JsonRpcReplyReader(sentId, ownId, isVersion1, formOf(request)),
    directives,
    signal,
    journal,
    payload: method.kind === 'write' || method.cacheable ? request.paramsBytes : undefined,
    client,
  }
}

/** @throws RequestRefused if the listener does not serve the method */
function classify(request: JsonRpcRequest, iface: Serving['iface']): MethodSpec {
  try {
    return iface.classify(request)
  } catch (error) {
    throw error instanceof RelayError ? new RequestRefused(error, request) : error
  }
}

/** Part of the cache key, because nodes answer 1.0 and versionless requests in other forms. */
function formOf({ isVersion2, hasVersion }: JsonRpcRequest): string {
  if (isVersion2) return '2'
  return hasVersion ? '1' : ''
}

/** Builds a call of the router's own, in the same way as a client's call. */
export function makeOwnCall(
  { method, params, prefer, avoid, signal }: OwnQuestion,
  guid: string,
  serving: Serving,
): Call {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const request = new JsonRpcRequest(body, { start: 0, end: body.length })
  const directives = { ...noDirectives, selectProvider: prefer, blockProviders: avoid }
  const origin = { directives, requestHeaders: ownHeaders, internalPath: '', signal }
  const call = makeJsonRpcCall(request, origin, guid, serving)
  // It has no span, so its attempts must not form a trace.
  call.journal.traceId = null
  return call
}

/** Includes the quotes. */
const maxIdBytes = 66
/**
 * Excludes characters that JSON encoders spell differently: escapes, non-ASCII letters, HTML
 * characters. Also excludes -0, because in a joined batch it would return as the id 0 of another
 * item.
 */
const plainId = /^(?:"[ !#-%'-;=?-[\]-~]*"|0|-?[1-9]\d{0,15})$/

/**
 * Whether nodes return the client's id unchanged: a short plain string, or an integer that fits
 * every number type. Nodes do not answer a notification, and some treat a null id as one. Some
 * reject a fraction, round a long number, or truncate a long string.
 */
function isEchoed({ body, id }: JsonRpcRequest): boolean {
  if (id === null || id.end - id.start > maxIdBytes) return false
  if (isShortNumber(body, id)) return true
  const text = bufferOf(body).toString('latin1', id.start, id.end)
  return plainId.test(text) && (body[id.start] === 0x22 || Number.isSafeInteger(Number(text)))
}

/** A fast path for most ids, without decoding text. */
function isShortNumber(body: Uint8Array, { start, end }: Span): boolean {
  for (let at = start; at < end; at++) {
    const byte = body[at] as number
    if (byte < 0x30 || byte > 0x39) return false
  }
  return end - start <= 15
}

/**
 * Bytes for the upstream: the client's own if they hold only known members and a safe id, otherwise
 * the known members, rewritten. Adds a version if the chain's nodes require one.
 */
function sentBytes(request: JsonRpcRequest, sentId: Uint8Array, version: string | null) {
  const { body, span, hasOthers, hasVersion } = request
  const lacksVersion = version !== null && !hasVersion
  if (hasOthers || lacksVersion || sentId === routerId) return request.rebuilt(sentId, version)
  const isWhole = span.start === 0 && span.end === body.length
  return isWhole ? body : body.subarray(span.start, span.end)
}
