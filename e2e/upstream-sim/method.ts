// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainView } from './chain-view.ts'
import type { Params } from './params.ts'

/** One JSON-RPC method of a node. */
export interface Method {
  /** The most parameters that it takes. */
  readonly maxParams: number
  /** The result. Throws an `RpcError` for the node's own errors. */
  run(view: ChainView, params: Params): unknown
}

export type Methods = Readonly<Record<string, Method>>
