// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A call as a node reads it. */
export interface LiedAbout {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a liar has at hand. */
export interface Lying {
  readonly call: LiedAbout
  /** The honest result, parsed anew. Null when the honest answer is an error. */
  readonly result: unknown
  /** The honest answer as text. */
  readonly honest: string
  /** The honest result of the same method about something else; null when there is none. */
  other(call: LiedAbout): unknown
  /** So many bytes make an answer a stream. */
  readonly longBytes: number
}

/** The body that is sent; null where there is nothing to lie about, and the honest answer goes out. */
export type Lie = (lying: Lying) => string | null

export const reply = (call: LiedAbout, result: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: call.id, result })

export type Fields = Record<string, unknown>

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same object with another value in a field; null when it has no such field. */
export function withField({ call, result }: Lying, field: string, value: (own: string) => string) {
  const own = isObject(result) ? result[field] : null
  if (!isObject(result) || typeof own !== 'string') return null
  return reply(call, { ...result, [field]: value(own) })
}

export const nextNumber = (hex: string) => `0x${(Number(hex) + 1).toString(16)}`
export const otherHash = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`

/** The filter of a call for logs. */
export function filterOf({ call }: Lying): Fields {
  const [filter] = call.params
  return isObject(filter) ? filter : {}
}

/** Changes the last log of an answer. */
export function withLastLog(
  { call, result }: Lying,
  field: string,
  value: (own: string) => string,
) {
  if (!Array.isArray(result) || !call.method.endsWith('Logs')) return null
  const log: unknown = result.at(-1)
  if (!isObject(log)) return null
  return reply(call, [...result.slice(0, -1), { ...log, [field]: value(String(log[field])) }])
}
