// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeError } from '../chain/failure-table.ts'
import type { ProbeCall, ResultPath } from '../chain/types.ts'
import type { ApiInterface } from '../config/types.ts'
import { grpcDialect } from './dialects/grpc.ts'
import { jsonRpcDialect, restDialect } from './dialects/json.ts'
import type { Incoming, Outgoing } from './wire.ts'

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
 * what an answer to a client tells by the way.
 */
export interface Dialect {
  /** A question of the router's own, ready to be sent. */
  ask(call: ProbeCall): Outgoing
  /** Understands an answer as far as it must. Never throws. */
  read(answer: WholeAnswer): Said
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

/** The block number that an answer tells; null when it tells none or is too large to look. */
export function readBlockNumber(
  dialect: Dialect,
  incoming: Incoming,
  path: ResultPath,
): number | null {
  const { body } = incoming
  if (!(body instanceof Uint8Array) || body.length > maxParsedBytes) return null
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' ? toBlockNumber(said.at(path), path.encoding) : null
}
