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

/** An answer that was collected whole. */
export interface WholeAnswer extends Incoming {
  readonly body: Uint8Array
}

/** What an answer says. */
export type Said =
  /** `at`: the value at a path of it; undefined where there is nothing. */
  | { readonly kind: 'answer'; readonly at: (path: ResultPath) => unknown }
  | { readonly kind: 'error'; readonly error: NodeError }
  /** Not an answer in the interface's form. `why` is short and holds no payload. */
  | { readonly kind: 'malformed'; readonly why: string }

/**
 * How one interface asks and answers, as far as the router itself needs it: for probes, and for
 * what an answer to a client reports by the way.
 */
export interface Dialect {
  /** A question of the router's own, ready to be sent. */
  ask(call: ProbeCall): Outgoing
  /** Understands an answer as far as it must. Never throws. */
  read(answer: WholeAnswer): Said
}

const accept: HeaderList = ['accept', 'application/json']
const headers: HeaderList = ['content-type', 'application/json', ...accept]
const internalError = -32603

function ask({ verb, path, body }: ProbeCall): Outgoing {
  if (body === null) return { verb, path, headers: accept, body }
  return { verb, path, headers, body: Buffer.from(body) }
}

/** JSON-RPC 1.0 and 2.0, and Tendermint RPC, which answers in the same form. */
export const jsonRpcDialect: Dialect = {
  ask,
  read({ status, body }: WholeAnswer): Said {
    if (status < 400 && !mayBeWhole(status)) return malformed(status)
    const document = parseJson(body) as { result?: unknown; error?: ErrorBody | null } | null
    if (document === undefined) return malformed(status, ' without a JSON answer')
    if (document?.error) {
      const { code: given, message, data } = document.error
      const code = Number(given)
      const error = {
        status,
        code: Number.isSafeInteger(code) ? code : null,
        message: errorWords(code, String(message), data),
      }
      return { kind: 'error', error }
    }
    if (status >= 400) return malformed(status)
    return { kind: 'answer', at: ({ path }) => valueAt(document?.result, path) }
  },
}

/** JSON over HTTP, where the status says whether it is an error. */
const restDialect: Dialect = {
  ask,
  read(answer: WholeAnswer): Said {
    const { status, headers: given, body } = answer
    const error = restError(status, body)
    if (error) return { kind: 'error', error }
    if (status >= 400) return malformed(status, ' without a JSON answer')
    // No part was asked for.
    if (isPartial(answer)) return malformed(status)
    return {
      kind: 'answer',
      at: ({ header: name, path }) =>
        name === undefined ? valueAt(parseJson(body), path) : (header(given, name) ?? undefined),
    }
  },
}

/** What an error may say; nodes of different families use different members. */
interface ErrorBody {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: unknown
  readonly error?: unknown
  readonly error_code?: unknown
}

/**
 * What a JSON-RPC error says. Nodes of the Cosmos family call all of their errors `Internal error`,
 * and say in `data` which it is.
 */
export function errorWords(code: number, message: string, data: unknown): string {
  const isInData = code === internalError && typeof data === 'string' && data !== ''
  return isInData ? `${message}: ${data}` : message
}

/** A node's error in its own words; null when the answer is none, or says nothing in JSON. */
export function restError(status: number, body: Uint8Array): NodeError | null {
  if (status < 400) return null
  const { code, message, error, error_code } = (parseJson(body) ?? {}) as ErrorBody
  const words = [message, error, error_code].filter((each) => typeof each === 'string')
  if (words.length === 0) return null
  return { status, code: typeof code === 'number' ? code : null, message: words.join(': ') }
}

function malformed(status: number, how = ''): Said {
  return { kind: 'malformed', why: `HTTP ${status}${how}` }
}

/** An empty message, not compressed. */
const emptyMessage = Buffer.alloc(5)

/** Unary gRPC: one message each way, the outcome among the trailers. */
const grpcDialect: Dialect = {
  ask: ({ path }: ProbeCall) => ({
    verb: 'POST',
    path,
    headers: ['content-type', 'application/grpc'],
    body: emptyMessage,
  }),
  read(answer: WholeAnswer): Said {
    const status = readStatus(answer)
    if (status === null)
      return { kind: 'malformed', why: `HTTP ${answer.status} without grpc-status` }
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

/** Before each message: a byte that says whether it is compressed, and its length. */
const prefixBytes = 5

/** The one message of a body; null when there is another number of them, or it is compressed. */
export function soleMessage(body: Uint8Array): Uint8Array | null {
  if (body.length < prefixBytes || body[0] !== 0) return null
  const length = new DataView(body.buffer, body.byteOffset, body.length).getUint32(1)
  return body.length === prefixBytes + length ? body.subarray(prefixBytes) : null
}

/**
 * The outcome of a gRPC call whose body has been read: from the trailers, or from the headers when
 * there is nothing else ("trailers only"). `code` is 0 to 16, `message` may be empty. Null when the answer
 * holds none.
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

/** Larger answers are not parsed for the sake of one number. */
const maxParsedBytes = 64 * 1024

/** A value as a block number. @returns null when it is none */
export function toBlockNumber(value: unknown, encoding: ResultPath['encoding']): number | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const form = encoding === 'hex' ? /^0x[0-9a-f]+$/i : /^[0-9]+$/
  const number = form.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) ? number : null
}

/** Reads values of a result; null if the answer is no result or too large to parse. */
export function valuesOf(
  dialect: Dialect,
  incoming: Incoming,
): ((place: ResultPath) => unknown) | null {
  const { body } = incoming
  if (!(body instanceof Uint8Array) || body.length > maxParsedBytes) return null
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' ? said.at : null
}
