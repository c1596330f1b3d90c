// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeError } from '../chain/failure-table.ts'
import type { ProbeCall, ResultPath } from '../chain/types.ts'
import type { ApiInterface } from '../config/types.ts'
import { grpcDialect } from './dialects/grpc.ts'
import { jsonRpcDialect } from './dialects/json-rpc.ts'
import { restDialect } from './dialects/rest.ts'
import type { Incoming, Outgoing } from './wire.ts'

/** An answer that was collected whole. */
export interface WholeAnswer extends Incoming {
  readonly body: Uint8Array
}

/** What an answer says. */
export type Said =
  /** `at`: the value at a place of it; undefined where there is nothing. */
  | { readonly kind: 'answer'; readonly at: (place: ResultPath) => unknown }
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
