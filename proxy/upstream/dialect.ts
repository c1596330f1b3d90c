// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeError } from '../chain/failure-table.ts'
import { fieldAt } from '../chain/proto-field.ts'
import type { ProbeCall, ResultPath } from '../chain/types.ts'
import { decoded } from '../config/secret.ts'
import type { ApiInterface } from '../config/types.ts'
import { parseJson } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import {
  header,
  type HeaderList,
  type Incoming,
  isPartial,
  mayBeWhole,
  type Outgoing,
} from './wire.ts'

/** An answer whose body is in memory. */
export interface WholeAnswer extends Incoming {
  readonly body: Uint8Array
}

/** Content of an answer. */
export type Said =
  /** `at` returns the value at a path, or undefined. */
  | { readonly kind: 'answer'; readonly at: (path: ResultPath) => unknown }
  | { readonly kind: 'error'; readonly error: NodeError }
  /** Not a well-formed answer. `why` is short and contains no payload. */
  | { readonly kind: 'malformed'; readonly why: string }

/**
 * Encoding of one interface, as far as the router needs it for probes and for block numbers in
 * client answers.
 */
export interface Dialect {
  /** Encodes a request of the router. */
  ask(call: ProbeCall): Outgoing
  /** Decodes an answer. Never throws. */
  read(answer: WholeAnswer): Said
}

const accept: HeaderList = ['accept', 'application/json']
const headers: HeaderList = ['content-type', 'application/json', ...accept]
const internalError = -32603

function ask({ verb, path, body }: ProbeCall): Outgoing {
  if (body === null) return { verb, path, headers: accept, body }
  return { verb, path, headers, body: Buffer.from(body) }
}

/** JSON-RPC 1.0 and 2.0, and Tendermint RPC, which has the same answer format. */
export const jsonRpcDialect: Dialect = {
  ask,
  read({ status, body }: WholeAnswer): Said {
    if (status < 400 && !mayBeWhole(status)) return pageOnly
    const document = parseJson(body) as { result?: unknown; error?: ErrorBody | null } | null
    if (document === undefined) return notJson
    if (document?.error) {
      const { error: own } = document
      const {
        code: rawCode,
        message,
        data,
      }: Partial<ErrorBody> = typeof own === 'object' ? own : { message: own }
      const said = message ?? rawCode ?? own
      const words = typeof said === 'string' ? said : JSON.stringify(said)
      const code = Number(rawCode)
      const error = {
        status,
        code: Number.isSafeInteger(code) ? code : null,
        message: errorWords(code, words, data),
      }
      return { kind: 'error', error }
    }
    if (status >= 400) return pageOnly
    return { kind: 'answer', at: ({ path }) => valueAt(document?.result, path) }
  },
}

/** JSON over HTTP, where the status indicates an error. */
const restDialect: Dialect = {
  ask,
  read(answer: WholeAnswer): Said {
    const { status, headers, body } = answer
    const error = restError(status, body)
    if (error) return { kind: 'error', error }
    if (status >= 400) return notJson
    // The router never requests a range.
    if (isPartial(answer)) return pageOnly
    return {
      kind: 'answer',
      at: ({ header: name, path }) =>
        name === undefined ? valueAt(parseJson(body), path) : (header(headers, name) ?? undefined),
    }
  },
}

/** Members of an error, which differ between node families. */
interface ErrorBody {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: unknown
  readonly error?: unknown
  readonly error_code?: unknown
}

/**
 * Message of a JSON-RPC error. Cosmos nodes call every error `Internal error`, NEAR nodes
 * `Server error`, some gateways `invalid params`, and put the cause in `data`.
 */
export function errorWords(code: number, message: string, data: unknown): string {
  const isInData = code === internalError || /^(?:Server error|invalid params)$/i.test(message)
  return isInData && typeof data === 'string' && data !== '' ? `${message}: ${data}` : message
}

/** The node's error with its own message; null without an error status or a JSON message. */
export function restError(status: number, body: Uint8Array): NodeError | null {
  if (status < 400) return null
  const { code, message, error, error_code } = (parseJson(body) ?? {}) as ErrorBody
  const words = [message, error, error_code].filter((each) => typeof each === 'string')
  if (words.length === 0) return null
  return { status, code: typeof code === 'number' ? code : null, message: words.join(': ') }
}

const notJson: Said = { kind: 'malformed', why: 'not JSON' }
/** The status of an answer decides. */
const pageOnly: Said = { kind: 'malformed', why: '' }

/** An empty, uncompressed message. */
const emptyMessage = Buffer.alloc(5)

/** Unary gRPC: one message each way, with the status in the trailers. */
const grpcDialect: Dialect = {
  ask: ({ path }: ProbeCall) => ({
    verb: 'POST',
    path,
    headers: ['content-type', 'application/grpc'],
    body: emptyMessage,
  }),
  read(answer: WholeAnswer): Said {
    const status = readStatus(answer)
    if (status === null) return { kind: 'malformed', why: 'no grpc-status' }
    if (status.code !== 0) return { kind: 'error', error: { status: answer.status, ...status } }
    const message = soleMessage(answer.body)
    if (message === null) return { kind: 'malformed', why: 'not exactly one whole plain message' }
    return {
      kind: 'answer',
      at: ({ path, header: name }) =>
        (name === undefined ? fieldAt(message, path) : header(answer.headers, name)) ?? undefined,
    }
  },
}

/** Prefix of each message: a compression flag and the length. */
const prefixBytes = 5

/** The only message of a body; null if the body is compressed or has another number of messages. */
export function soleMessage(body: Uint8Array): Uint8Array | null {
  if (body.length < prefixBytes || body[0] !== 0) return null
  const length = new DataView(body.buffer, body.byteOffset, body.length).getUint32(1)
  return body.length === prefixBytes + length ? body.subarray(prefixBytes) : null
}

/**
 * Status of a gRPC call whose body has been read, from the trailers or, if there are none, from the
 * headers ("trailers only"). `code` is 0 to 16, and `message` may be empty. Null without a status.
 */
export function readStatus(
  answer: Pick<Incoming, 'headers' | 'trailers'>,
): { readonly code: number; readonly message: string } | null {
  const trailers = answer.trailers()
  const from = header(trailers, 'grpc-status') === null ? answer.headers : trailers
  const code = header(from, 'grpc-status')
  if (code === null || !/^\d{1,2}$/.test(code)) return null
  return { code: Number(code), message: decoded(header(from, 'grpc-message') ?? '') }
}

export const dialects: Readonly<Record<ApiInterface, Dialect>> = {
  jsonrpc: jsonRpcDialect,
  tendermintrpc: jsonRpcDialect,
  rest: restDialect,
  grpc: grpcDialect,
}

/** Larger answers are not worth parsing for one number. */
const maxParsedBytes = 64 * 1024

/** Parses a block number. @returns null if invalid */
export function toBlockNumber(value: unknown, encoding: ResultPath['encoding']): number | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const form = encoding === 'hex' ? /^0x[0-9a-f]+$/i : /^[0-9]+$/
  const number = form.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) ? number : null
}

/** Reader for values of a result; null if the answer is no result or too large to parse. */
export function valuesOf(
  dialect: Dialect,
  incoming: Incoming,
): ((place: ResultPath) => unknown) | null {
  const { body } = incoming
  if (!(body instanceof Uint8Array) || body.length > maxParsedBytes) return null
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' ? said.at : null
}
