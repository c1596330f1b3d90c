// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { batchTooLarge, emptyBatch, invalidRequest, parseError, RpcError } from './rpc-error.ts'

declare global {
  interface JSON {
    /** Text that `stringify` writes as it stands (ECMAScript, JSON.parse source text access). */
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

const maxBatchItems = 1000

/** One call of a request. `id` is as the client wrote it, undefined for a notification. */
export interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What stands where a call should, and what is wrong with it. */
export interface BadCall {
  readonly id: unknown
  readonly error: RpcError
}

/** What a request body holds. */
export interface RpcRequest {
  readonly isBatch: boolean
  readonly items: readonly (RpcCall | BadCall)[]
}

/** Reads a request body. What cannot be read is one item that says why. */
export function readRequest(body: string): RpcRequest {
  let value: unknown
  try {
    value = JSON.parse(body, keepNumberAsWritten)
  } catch (cause) {
    return single(Object.assign(parseError(), { cause }))
  }
  if (!Array.isArray(value)) return { isBatch: false, items: [readCall(value)] }
  if (value.length === 0) return single(emptyBatch())
  if (value.length > maxBatchItems) return { ...single(batchTooLarge()), isBatch: true }
  return { isBatch: true, items: value.map(readCall) }
}

/** The text of one answer. */
export function replyText(id: unknown, outcome: { readonly result: unknown } | RpcError): string {
  if (!(outcome instanceof RpcError))
    return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, result: outcome.result })
  const { code, message, data } = outcome
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message, data } })
}

function single(error: RpcError): RpcRequest {
  return { isBatch: false, items: [{ id: null, error }] }
}

function readCall(value: unknown): RpcCall | BadCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { id: null, error: invalidRequest() }
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  const isScalar = typeof id !== 'object' || id === null || JSON.isRawJSON(id)
  if (!isScalar) return { id: null, error: invalidRequest() }
  if (jsonrpc !== '2.0' || typeof method !== 'string')
    return { id: id ?? null, error: invalidRequest() }
  if (params === undefined || params === null) return { id, method, params: [] }
  if (!Array.isArray(params)) return { id, error: new RpcError(-32602, 'non-array args') }
  return { id, method, params }
}

function keepNumberAsWritten(
  key: string,
  value: unknown,
  context: { readonly source?: string },
): unknown {
  return key === 'id' && typeof value === 'number' ? JSON.rawJSON(context.source!) : value
}
