// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { WireCall } from './byte-equality.ts'
import { type HttpTarget, postJson } from './http-call.ts'

/** `params` by position or by name. */
export type Params = readonly unknown[] | Readonly<Record<string, unknown>>

/** Valid params of each method, one entry per form. */
export type GoodParams = Readonly<Record<string, readonly Params[]>>

export interface CallTable {
  /** Methods to call. */
  readonly methods: Iterable<string>
  readonly good: GoodParams
  /** Methods to skip, because they change or stop the node. */
  readonly never?: ReadonlySet<string>
  /** The value of `jsonrpc`. */
  readonly version?: '1.0' | '2.0'
}

/** Ids that nodes return literally. */
const ids = ['1', '0', '"a"', '"x-1_2"', '7', '9007199254740991']
const nonsense: readonly unknown[] = [{ nonsense: true }, 'zz', -1, null, [[]], 1e30]

/**
 * Each method without `params`, with empty and with valid params, with one of them invalid, with
 * one too few and with one too many. They cover answers, nulls and errors of the node.
 */
export function jsonRpcCalls(table: CallTable): WireCall<HttpTarget>[] {
  return jsonRpcTexts(table).map((text) => postJson(text.slice(0, 160), text))
}

/** The same calls as texts. */
export function jsonRpcTexts(table: CallTable): string[] {
  const { good, never = new Set(), version = '2.0' } = table
  const methods = new Set([...table.methods, ...Object.keys(good)])
  const requests = [...methods].filter((method) => !never.has(method))
  return requests
    .flatMap((method) => variants(good[method] ?? []).map((params) => ({ method, params })))
    .map(({ method, params }, at) => {
      const head = `"jsonrpc":"${version}","id":${ids[at % ids.length]}`
      const tail = params === null ? '' : `,"params":${JSON.stringify(params)}`
      return `{${head},"method":${JSON.stringify(method)}${tail}}`
    })
}

/** Distinct variants of params; null: no `params`. */
function variants(good: readonly Params[]): (Params | null)[] {
  const [first = []] = good
  const none = isList(first) ? [] : {}
  const all = [...good, ...bent(first), none, [nonsense[0]]]
  const distinct = new Map(all.map((params) => [JSON.stringify(params), params]))
  return [null, ...distinct.values()]
}

function bent(params: Params): Params[] {
  const nonsenseAt = (at: number) => nonsense[at % nonsense.length]
  if (isList(params))
    return [
      ...params.map((_each, at) => params.with(at, nonsenseAt(at))),
      params.slice(0, -1),
      [...params, nonsenseAt(params.length)],
    ]
  const members = Object.entries(params)
  return [
    ...members.map(([name], at) => ({ ...params, [name]: nonsenseAt(at) })),
    Object.fromEntries(members.slice(0, -1)),
    { ...params, nonsense: true },
  ]
}

function isList(params: Params): params is readonly unknown[] {
  return Array.isArray(params)
}
