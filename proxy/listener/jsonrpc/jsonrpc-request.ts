// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAscii, isUtf8 } from 'node:buffer'
import { Cursor, membersOf, type Span } from '../../json/cursor.ts'
import { bufferOf, parseSpan, spells } from '../../json/text.ts'
import { isSpace, maxNesting, spaceEnd, valueEnd } from '../../json/value.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'

/** More items than this in one batch are refused together. */
const maxBatchItems = 1_000

/** What a request body holds: one request, or several. That an item of a batch is JSON is known. */
export type RequestBody =
  | { readonly kind: 'single'; readonly span: Span }
  | { readonly kind: 'batch'; readonly items: readonly Span[] }

/**
 * Tells single requests from batches. Whether a single one is JSON is found when it is read.
 * @throws RelayError -32700 or -32600
 */
export function readBody(body: Uint8Array): RequestBody {
  const start = spaceEnd(body, 0)
  if (start === body.length) throw parseError('the request body is empty')
  if (spells(body, start, start + 3, '\xef\xbb\xbf'))
    throw parseError('the request body begins with a byte order mark; send it without')
  if (!isAscii(body) && !isUtf8(body)) throw parseError('the request body is not UTF-8')
  if (body[start] === 0x5b) return readBatch(body, start)
  let end = body.length
  while (isSpace(body[end - 1])) end--
  return { kind: 'single', span: { start, end } }
}

function readBatch(body: Uint8Array, start: number): RequestBody {
  const items: Span[] = []
  const cursor = new Cursor(body, start)
  while (cursor.next()) {
    if (items.length === maxBatchItems)
      throw invalid(`the batch has more than ${maxBatchItems} items; send it in parts`)
    items.push({ start: cursor.valueStart, end: cursor.valueEnd })
  }
  checkEnd(body, { start, end: body.length }, cursor.end)
  if (items.length === 0) throw invalid('the batch is empty')
  return { kind: 'batch', items }
}

/** @param end where the value of the span ends, or `~offset` of what is wrong with it */
function checkEnd(body: Uint8Array, span: Span, end: number): void {
  if (end === span.end) return
  const at = end < 0 ? ~end : spaceEnd(body, end)
  if (end >= 0 && at === body.length) return
  if (at >= body.length) throw parseError('the request body ends before its JSON does')
  throw parseError(
    end < 0
      ? `the request body is not JSON, or nested over ${maxNesting} levels: wrong byte at offset ${at}`
      : `the request body goes on behind its JSON, at offset ${at}`,
  )
}

/**
 * One request of a client. Offsets are into the body that it stands in. It is itself the question
 * for the chain spec, and parses its params only when that looks at them.
 */
export class JsonRpcRequest {
  readonly apiInterface = 'jsonrpc'
  readonly body: Uint8Array
  readonly span: Span
  /** The bytes of `id`; null where there is none. */
  readonly id: Span | null
  /** Else 1.0, which it need not tell. */
  readonly isVersion2: boolean
  /** It tells its version. */
  readonly hasVersion: boolean
  readonly method: string
  /** Null where there are none. */
  readonly paramsSpan: Span | null
  #params: unknown

  constructor(
    body: Uint8Array,
    span: Span,
    id: Span | null,
    isVersion2: boolean,
    hasVersion: boolean,
    method: string,
    params: Span | null,
  ) {
    this.body = body
    this.span = span
    this.id = id
    this.isVersion2 = isVersion2
    this.hasVersion = hasVersion
    this.method = method
    this.paramsSpan = params
  }

  /** Wants no reply: a request of version 2.0 without an id. */
  get isNotification(): boolean {
    return this.isVersion2 && this.id === null
  }

  get params(): unknown {
    const span = this.paramsSpan
    // What was parsed is never undefined.
    if (span && this.#params === undefined)
      this.#params = parseSpan(this.body, span.start, span.end)
    return this.#params
  }
}

/** A request that is not one, and the id to say so under. */
export class RequestRefused extends RelayError {
  /** Null where there is no id, or none that could be one. */
  readonly id: Span | null

  constructor(error: RelayError, id: Span | null) {
    super(error.kind, error.message)
    this.id = id
  }
}

const members = ['jsonrpc', 'method', 'params', 'id'] as const

/**
 * Reads one request.
 * @throws RelayError -32700 when it is not JSON
 * @throws RequestRefused -32600 or -32601
 */
export function readRequest(body: Uint8Array, span: Span): JsonRpcRequest {
  if (body[span.start] !== 0x7b) {
    checkEnd(body, span, valueEnd(body, span.start))
    throw refused('a request must be an object', null)
  }
  const { at, twice, end } = membersOf(body, span.start, members)
  checkEnd(body, span, end)
  const id = at.id ?? null
  if (id && !isId(body[id.start])) throw refused('"id" must be a string, a number or null', null)
  if (twice !== null) throw refused(`"${twice}" is given twice`, id)

  const isVersion2 = readsVersion2(body, at.jsonrpc, id)
  const method = readMethod(body, at.method, id)
  const params = at.params ?? null
  if (params && !isParams(body[params.start]))
    throw refused('"params" must be an array or an object', id)
  const hasVersion = at.jsonrpc !== undefined
  return new JsonRpcRequest(body, span, id, isVersion2, hasVersion, method, params)
}

/** Version 1.0 says so or says nothing. */
function readsVersion2(body: Uint8Array, version: Span | undefined, id: Span | null): boolean {
  if (version === undefined) return false
  if (spells(body, version.start, version.end, '"2.0"')) return true
  if (spells(body, version.start, version.end, '"1.0"')) return false
  throw refused('"jsonrpc" must be "2.0", or "1.0", or be left out', id)
}

function readMethod(body: Uint8Array, method: Span | undefined, id: Span | null): string {
  if (method === undefined) throw refused('"method" is missing', id)
  const { start, end } = method
  if (body[start] !== 0x22) throw refused('"method" must be a string', id)
  if (end - start === 2)
    throw new RequestRefused(
      new RelayError(errorKinds.methodNotFound, 'the name of the method is empty'),
      id,
    )
  const text = bufferOf(body).toString('latin1', start + 1, end - 1)
  // Nearly always a plain word; escapes and letters beyond ASCII take the long way.
  return /^[\x20-\x5b\x5d-\x7e]*$/.test(text) ? text : (parseSpan(body, start, end) as string)
}

/** By its first byte: a string, a number or null. */
function isId(first: number | undefined): boolean {
  return first !== 0x7b && first !== 0x5b && first !== 0x74 && first !== 0x66
}

/** By its first byte: an array, an object or null. */
function isParams(first: number | undefined): boolean {
  return first === 0x7b || first === 0x5b || first === 0x6e
}

function parseError(message: string): RelayError {
  return new RelayError(errorKinds.parse, message)
}

function invalid(message: string): RelayError {
  return new RelayError(errorKinds.invalidRequest, message)
}

function refused(message: string, id: Span | null): RequestRefused {
  return new RequestRefused(invalid(message), id)
}
