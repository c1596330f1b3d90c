// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../faults.ts'
import { RpcError } from '../rpc-error.ts'
import type { NodeReply, NodeRequest } from './served-node.ts'

/** How a chain's nodes speak JSON-RPC. */
export interface RpcManner<View> {
  /** The result of a method. Throws an `RpcError` for the node's own errors. */
  readonly methods: ReadonlyMap<string, (view: View, params: RpcParams) => unknown>
  /** Version 1.0 has both `result` and `error` in each answer, and an HTTP status with each error. */
  readonly version: '1.0' | '2.0'
  readonly notFound: (method: string) => RpcError
  /** Of params given by name, their order. */
  readonly names?: ReadonlyMap<string, readonly string[]>
}

/** The params of one call by position. */
export type RpcParams = readonly unknown[]

interface View {
  skewed(): View
}

/** Answers a JSON-RPC request over HTTP, single or batch, with the faults that strike its calls. */
export function answerRpc<V extends View>(
  request: NodeRequest,
  view: V,
  manner: RpcManner<V>,
  faults: FaultSwitch,
): NodeReply {
  const json = 'application/json'
  if (request.verb !== 'POST')
    return { status: 405, contentType: 'text/plain', body: 'use POST', methods: [] }
  let calls: unknown
  try {
    calls = JSON.parse(request.body.toString())
  } catch {
    const error = new RpcError(-32700, 'Parse error')
    return { status: 500, contentType: json, body: textOf(null, error, manner), methods: [] }
  }
  const items = (Array.isArray(calls) ? calls : [calls]) as RpcCall[]
  const methods = items.map((item) => String(item.method))
  const replies = items.map((item) => replyTo(item, view, manner, faults))
  if (Array.isArray(calls)) {
    const body = `[${replies.map(({ text }) => text).join(',')}]`
    return { status: 200, contentType: json, body, methods }
  }
  const [only] = replies
  const status =
    only?.error && manner.version === '1.0' ? (only.error.code === -32601 ? 404 : 500) : 200
  return { status, contentType: json, body: only?.text ?? '', methods }
}

interface RpcCall {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

interface Outcome {
  readonly text: string
  readonly error: RpcError | null
}

function replyTo<V extends View>(
  { id = null, method, params }: RpcCall,
  view: V,
  manner: RpcManner<V>,
  faults: FaultSwitch,
): Outcome {
  const struck = faults.drawForCall(String(method))
  const skewed = struck.some(({ kind }) => kind === 'wrong-block')
  let outcome = run(String(method), params, skewed ? (view.skewed() as V) : view, manner)
  let answeredId = id
  for (const fault of struck) {
    if (fault.kind === 'wrong-id') answeredId = 'not-what-you-asked'
    if (fault.kind === 'null-result') outcome = { result: null }
    if (fault.kind === 'error') outcome = new RpcError(fault.code, fault.message, fault.data)
  }
  const error = outcome instanceof RpcError ? outcome : null
  return { text: textOf(answeredId, outcome, manner), error }
}

function run<V extends View>(
  method: string,
  params: unknown,
  view: V,
  { methods, names, notFound }: RpcManner<V>,
): { readonly result: unknown } | RpcError {
  const found = methods.get(method)
  if (found === undefined) return notFound(method)
  try {
    return { result: found(view, positional(params, names?.get(method) ?? [])) }
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
}

function positional(params: unknown, names: readonly string[]): RpcParams {
  if (Array.isArray(params)) return params
  if (typeof params !== 'object' || params === null) return []
  return names.map((name) => (params as Record<string, unknown>)[name])
}

function textOf(
  id: unknown,
  outcome: { readonly result: unknown } | RpcError,
  { version }: Pick<RpcManner<never>, 'version'>,
): string {
  const error =
    outcome instanceof RpcError
      ? { code: outcome.code, message: outcome.message, data: outcome.data }
      : null
  const result = outcome instanceof RpcError ? null : outcome.result
  if (version === '1.0') return JSON.stringify({ result, error, id })
  return JSON.stringify(error ? { jsonrpc: '2.0', error, id } : { jsonrpc: '2.0', result, id })
}
