// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One call of a request. A call without an `id` is a notification. */
export interface RpcCall {
  readonly id?: unknown
  readonly method: string
  /** Params by position or by name. */
  readonly params?: unknown
}

export interface RpcRequest {
  readonly isBatch: boolean
  readonly items: readonly RpcCall[]
}

export type Outcome = { readonly result: unknown } | RpcError

/** An error that a node returns instead of a result. */
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

export function invalidParams(message: string): RpcError {
  return new RpcError(-32602, message)
}

/** Reads a request body. @throws SyntaxError on invalid JSON */
export function readRequest(body: string): RpcRequest {
  const value = JSON.parse(body) as RpcCall | RpcCall[]
  return Array.isArray(value) ? { isBatch: true, items: value } : { isBatch: false, items: [value] }
}

/** The text of one answer. Version 1.0 always has both `result` and `error`. */
export function replyText(id: unknown, outcome: Outcome, version: '1.0' | '2.0' = '2.0'): string {
  const isError = outcome instanceof RpcError
  const { code, message, data } = isError ? outcome : ({} as Partial<RpcError>)
  const error = isError ? { code, message, data } : null
  const result = isError ? null : outcome.result
  if (version === '1.0') return JSON.stringify({ result, error, id })
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...(isError ? { error } : { result }) })
}
