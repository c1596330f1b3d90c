// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Hex, toData, digest } from './hex.ts'

/** What a node answers instead of a result. Codes and messages are geth's. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const parseError = (): RpcError => new RpcError(-32700, 'parse error')
export const invalidRequest = (): RpcError => new RpcError(-32600, 'invalid request')
export const emptyBatch = (): RpcError => new RpcError(-32600, 'empty batch')
export const batchTooLarge = (): RpcError => new RpcError(-32600, 'batch too large')
export const invalidParams = (message: string): RpcError => new RpcError(-32602, message)
export const headerNotFound = (): RpcError => new RpcError(-32000, 'header not found')
export const prunedHistory = (): RpcError => new RpcError(4444, 'pruned history unavailable')

export function methodNotFound(method: string): RpcError {
  return new RpcError(-32601, `the method ${method} does not exist/is not available`)
}

/** State that a node without archive has thrown away. */
export function missingTrieNode(stateRoot: Hex): RpcError {
  const node = toData(digest('trie-node', stateRoot)).slice(2)
  return new RpcError(
    -32000,
    `missing trie node ${node} (path ) state ${stateRoot} is not available, not found`,
  )
}
