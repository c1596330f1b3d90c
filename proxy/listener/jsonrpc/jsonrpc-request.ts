// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAscii, isUtf8 } from 'node:buffer'
import { clientLimits } from '../../bytes/limits.ts'
import { FoundJson } from '../../json/place.ts'
import {
  bufferOf,
  Cursor,
  isSpace,
  membersOf,
  parseJson,
  parseSpan,
  spaceEnd,
  type Span,
  spells,
  valueEnd,
} from '../../json/scanner.ts'
import type { MethodSpec } from '../../chain/types.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'

const { batchItems, nesting, values: maxValues } = clientLimits

/** Content of a request body: one request or several. Batch items are already validated as JSON. */
export type RequestBody =
  | { readonly kind: 'single'; readonly span: Span }
  | { readonly kind: 'batch'; readonly items: readonly Span[] }

/**
 * Distinguishes single requests from batches. A single request is validated when it is read.
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
  const cursor = new Cursor(body, start, maxValues)
  while (cursor.next()) {
    if (items.length === batchItems)
      throw invalid(`the batch has more than ${batchItems} items; send it in parts`)
    items.push({ start: cursor.valueStart, end: cursor.valueEnd })
  }
  checkEnd(body, { start, end: body.length }, cursor.end)
  if (items.length === 0) throw invalid('the batch is empty')
  return { kind: 'batch', items }
}

/** @param end where the value of the span ends, or `~offset` of an invalid byte */
function checkEnd(body: Uint8Array, span: Span, end: number): void {
  if (end === span.end) return
  const at = end < 0 ? ~end : spaceEnd(body, end)
  if (end >= 0 && at === body.length) return
  if (at >= body.length) throw parseError('the request body ends before its JSON does')
  throw parseError(
    end < 0
      ? `the request body is not JSON, or nested over ${nesting} levels, or has over ${maxValues} values: wrong byte at offset ${at}`
      : `the request body continues after its JSON, at offset ${at}`,
  )
}

const members = ['jsonrpc', 'method', 'params', 'id'] as const
const nullId = Buffer.from('null')

/**
 * One client request. Offsets refer to the body that contains it. The chain spec classifies it
 * directly, and only the params that the spec reads are parsed.
 */
export class JsonRpcRequest {
  readonly apiInterface = 'jsonrpc'
  readonly body: Uint8Array
  readonly span: Span
  /** Span of the `id` value; null when absent. */
  readonly id: Span | null
  /** False for version 1.0, explicit or not. */
  readonly isVersion2: boolean
  /** Whether it has a `jsonrpc` member. */
  readonly hasVersion: boolean
  /** Whether it has a fifth member, such as `Params`. Some nodes read that instead of `params`. */
  readonly hasOthers: boolean
  readonly method: string
  /** The chain's internal path that the client called; empty if none. */
  internalPath = ''
  readonly params: FoundJson | null
  readonly #at: readonly (Span | undefined)[]

  /**
   * Reads one request.
   * @throws RelayError -32700 if it is not JSON
   * @throws RequestRefused -32600 or -32601
   */
  constructor(body: Uint8Array, span: Span) {
    if (body[span.start] !== 0x7b) {
      checkEnd(body, span, valueEnd(body, span.start, maxValues))
      throw invalid('a request must be an object')
    }
    const { at, twice, hasOthers, end } = membersOf(body, span.start, members, maxValues)
    checkEnd(body, span, end)
    const [version, method, params = null, id = null] = at
    if (id && !isId(body[id.start])) throw invalid('"id" must be a string, a number or null')
    this.body = body
    this.span = span
    this.id = id
    if (twice !== null) throw this.#invalid(`"${twice}" is given twice`)
    this.isVersion2 = this.#readsVersion2(version)
    this.hasVersion = version !== undefined
    this.hasOthers = hasOthers
    this.method = this.#readMethod(method)
    if (params && !isParams(body[params.start]))
      throw this.#invalid('"params" must be an array or an object')
    this.#at = at
    this.params = params && new FoundJson(body, params.start)
  }

  /** Whether it expects no reply: version 2.0 without an id. */
  get isNotification(): boolean {
    return this.isVersion2 && this.id === null
  }

  /** The id as the client wrote it, or `null` if absent. */
  get ownId(): Uint8Array {
    return this.id ? this.body.subarray(this.id.start, this.id.end) : nullId
  }

  /** The params as the client wrote them; empty if absent. */
  get paramsBytes(): Uint8Array {
    const [, , params] = this.#at
    return this.body.subarray(params?.start ?? 0, params?.end ?? 0)
  }

  /**
   * The request with only the four known members, values unchanged, under this id. A node then
   * reads the same call as the router, however it matches names.
   * @param version for a request without a version; null: none
   */
  rebuilt(id: Uint8Array, version: string | null): Uint8Array {
    const text = (span: Span) => bufferOf(this.body).toString('latin1', span.start, span.end)
    const [own, method, params] = this.#at.map((span) => span && text(span))
    const versionText = own ?? (version && `"${version}"`)
    const head = versionText ? `"jsonrpc":${versionText},` : ''
    const tail = params ? `,"params":${params}` : ''
    const idText = bufferOf(id).toString('latin1')
    return Buffer.from(`{${head}"id":${idText},"method":${method}${tail}}`, 'latin1')
  }

  /** Parses the version; 1.0 may be implicit. */
  #readsVersion2(version: Span | undefined): boolean {
    if (version === undefined) return false
    if (spells(this.body, version.start, version.end, '"2.0"')) return true
    if (spells(this.body, version.start, version.end, '"1.0"')) return false
    throw this.#invalid('"jsonrpc" must be "2.0", or "1.0", or be left out')
  }

  #readMethod(method: Span | undefined): string {
    if (method === undefined) throw this.#invalid('"method" is missing')
    const { start, end } = method
    if (this.body[start] !== 0x22) throw this.#invalid('"method" must be a string')
    if (end - start === 2) {
      const error = new RelayError(errorKinds.methodNotFound, 'the name of the method is empty')
      throw new RequestRefused(error, this)
    }
    const text = bufferOf(this.body).toString('latin1', start + 1, end - 1)
    // Nearly all names are plain; escapes and non-ASCII letters need parsing.
    return /^[\x20-\x5b\x5d-\x7e]*$/.test(text)
      ? text
      : (parseSpan(this.body, start, end) as string)
  }

  #invalid(message: string): RequestRefused {
    return new RequestRefused(invalid(message), this)
  }
}

/** A request refused under its own id. */
export class RequestRefused extends RelayError {
  readonly ownId: Uint8Array

  constructor({ kind, message }: RelayError, { ownId }: Pick<JsonRpcRequest, 'ownId'>) {
    super(kind, message)
    this.ownId = ownId
  }
}

/** Error for a subscription that the chain offers and the router does not support. */
export function noSuchSubscription(request: JsonRpcRequest, { name }: MethodSpec): RequestRefused {
  const why = `${name}: the router has no such subscription`
  return new RequestRefused(new RelayError(errorKinds.methodNotFound, why), request)
}

/** Formats a router error as JSON-RPC under this id. */
export function errorBytes(
  error: RelayError,
  guid: string,
  ownId = error instanceof RequestRefused ? error.ownId : nullId,
): Uint8Array {
  const { kind, message } = error
  const object = { code: kind.jsonRpcCode, message, data: { guid, reason: kind.reason } }
  return answerBytes(ownId, 'error', Buffer.from(JSON.stringify(object)))
}

/** Formats a router answer under this id. */
export function answerBytes(
  ownId: Uint8Array,
  member: 'result' | 'error',
  value: Uint8Array,
): Uint8Array {
  const [before, between] = [Buffer.from('{"jsonrpc":"2.0","id":'), Buffer.from(`,"${member}":`)]
  return Buffer.concat([before, ownId, between, value, Buffer.from('}')])
}

/**
 * Whether an answer with the id `theirs` belongs to the request `sent`. Nodes may spell the id
 * differently, and omit it or set it to null in an error. Ids are JSON; `theirs` is null if absent.
 */
export function isIdOf(theirs: Uint8Array | null, sent: Buffer, isError: boolean): boolean {
  if (theirs && sent.equals(theirs)) return true
  const value = theirs ? parseJson(theirs) : null
  return value === parseJson(sent) || (isError && value === null)
}

/** Decides by the first byte: a string, a number or null. */
function isId(first: number | undefined): boolean {
  return first !== 0x7b && first !== 0x5b && first !== 0x74 && first !== 0x66
}

/** Decides by the first byte: an array, an object or null. */
function isParams(first: number | undefined): boolean {
  return first === 0x7b || first === 0x5b || first === 0x6e
}

function parseError(message: string): RelayError {
  return new RelayError(errorKinds.parse, message)
}

function invalid(message: string): RelayError {
  return new RelayError(errorKinds.invalidRequest, message)
}
