// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IntegrityLevel } from '../../proxy/config/types.ts'

/** A call as a node reads it. */
export interface LiedAbout {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a liar has at hand. */
interface Lying {
  readonly call: LiedAbout
  /** The honest result, parsed anew. Null when the honest answer is an error. */
  readonly result: unknown
  /** The honest answer as text. */
  readonly honest: string
  /** The honest result of the same method about something else; null when there is none. */
  other(call: LiedAbout): unknown
}

/** The body that is sent; null where there is nothing to lie about, and the honest answer goes out. */
type Lie = (lying: Lying) => string | null

const reply = (call: LiedAbout, result: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: call.id, result })

type Fields = Record<string, unknown>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same object with another value in a field; null when it has no such field. */
function withField({ call, result }: Lying, field: string, value: (own: string) => string) {
  const own = isObject(result) ? result[field] : null
  if (!isObject(result) || typeof own !== 'string') return null
  return reply(call, { ...result, [field]: value(own) })
}

const nextNumber = (hex: string) => `0x${(Number(hex) + 1).toString(16)}`
const otherHash = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`

/** The filter of a call for logs. */
function filterOf({ call }: Lying): Fields {
  const [filter] = call.params
  return isObject(filter) ? filter : {}
}

/** Changes the last log of an answer. */
function withLastLog({ call, result }: Lying, field: string, value: (own: string) => string) {
  if (!Array.isArray(result) || !call.method.endsWith('Logs')) return null
  const log: unknown = result.at(-1)
  if (!isObject(log)) return null
  return reply(call, [...result.slice(0, -1), { ...log, [field]: value(String(log[field])) }])
}

/** Asks about the block before instead. */
function aboutTheBlockBefore({ call, other }: Lying): string | null {
  const at = call.params.findIndex(
    (each) => typeof each === 'string' && /^0x[0-9a-f]{1,12}$/.test(each),
  )
  if (at < 0) return null
  const params = call.params.with(at, `0x${(Number(call.params[at]) - 1).toString(16)}`)
  const result = other({ ...call, params })
  const isEmpty = result === null || (Array.isArray(result) && result.length === 0)
  return isEmpty ? null : reply(call, result)
}

/** Another value in a field of the result of these methods. */
function fieldOf(methods: RegExp, field: string, value: (own: string) => string): Lie {
  return (lying) => (methods.test(lying.call.method) ? withField(lying, field, value) : null)
}

const blocks = /^eth_getBlockBy/
const transactions = /^eth_getTransactionBy/

/** Not an answer in form. */
const malformed = {
  /** HTTP 200 and half a document. */
  'cut-json': ({ honest }) => honest.slice(0, Math.max(1, honest.length >> 1)),
  'empty-body': () => '',
  'html-page': () => '<html><body>Welcome</body></html>',
  'two-documents': ({ honest }) => honest + honest,
  'no-result': ({ call }) => JSON.stringify({ jsonrpc: '2.0', id: call.id }),
  /** With a result of null it would be an error in the old form, and no lie. */
  'result-and-error': ({ call, result }) =>
    result === null
      ? null
      : JSON.stringify({ jsonrpc: '2.0', id: call.id, result, error: { code: -1, message: 'no' } }),
  'wrong-id': ({ call, result }) => reply({ ...call, id: 'somebody-else' }, result),
  'no-id': ({ result }) => JSON.stringify({ jsonrpc: '2.0', result }),
} as const satisfies Record<string, Lie>

/** About something else than what was asked for. */
const ofOtherThings = {
  'wrong-block': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' ? aboutTheBlockBefore(lying) : null,
  'wrong-number': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' && lying.call.params[0] !== 'latest'
      ? withField(lying, 'number', nextNumber)
      : null,
  'wrong-hash': fieldOf(/^eth_getBlockByHash$/, 'hash', otherHash),
  'wrong-transaction': fieldOf(/^eth_getTransactionByHash$/, 'hash', otherHash),
  'wrong-receipt': fieldOf(/^eth_getTransactionReceipt$/, 'transactionHash', otherHash),
  'receipts-of-parent': (lying) =>
    lying.call.method === 'eth_getBlockReceipts' ? aboutTheBlockBefore(lying) : null,
  'receipts-mixed': ({ call, result }) => {
    if (!Array.isArray(result) || call.method !== 'eth_getBlockReceipts' || result.length < 2)
      return null
    const last = result.at(-1) as Fields
    const [field, value] = /^0x.{64}$/.test(String(call.params[0]))
      ? ['blockHash', otherHash(String(last['blockHash']))]
      : ['blockNumber', nextNumber(String(last['blockNumber']))]
    if (call.params[0] === 'latest') return null
    return reply(call, [...(result.slice(0, -1) as unknown[]), { ...last, [field]: value }])
  },
  /** What `latest` stands for is the node's to say. */
  'log-out-of-range': (lying) => {
    const { blockHash, toBlock = 'latest' } = filterOf(lying)
    return blockHash !== undefined || toBlock === 'latest'
      ? null
      : withLastLog(lying, 'blockNumber', (own) => `0x${(Number(own) + 10_000).toString(16)}`)
  },
  'log-of-other-block': (lying) =>
    filterOf(lying)['blockHash'] === undefined ? null : withLastLog(lying, 'blockHash', otherHash),
  'log-of-other-address': (lying) =>
    filterOf(lying)['address'] === undefined ? null : withLastLog(lying, 'address', otherHash),
  /** The right address, and another event than the filter names. */
  'log-of-other-event': ({ call, result, ...lying }) => {
    const wanted = filterOf({ call, result, ...lying })['topics']
    if (!Array.isArray(result) || !Array.isArray(wanted) || !wanted[0]) return null
    const [log, ...rest] = result as Fields[]
    if (call.method !== 'eth_getLogs' || !log) return null
    const [event, ...topics] = log['topics'] as [string, ...string[]]
    return reply(call, [{ ...log, topics: [otherHash(event), ...topics] }, ...rest])
  },
} as const satisfies Record<string, Lie>

/** Of what a hash is made from. */
const unproven = {
  'other-time': fieldOf(blocks, 'timestamp', nextNumber),
  'other-state-root': fieldOf(blocks, 'stateRoot', otherHash),
  'other-value': fieldOf(transactions, 'value', nextNumber),
  'other-receiver': fieldOf(transactions, 'to', otherHash),
  'transaction-with-other-value': ({ call, result }) => {
    const list = blocks.test(call.method) && isObject(result) ? result['transactions'] : null
    const last: unknown = Array.isArray(list) ? list.at(-1) : null
    if (!Array.isArray(list) || !isObject(result) || !isObject(last)) return null
    const changed = { ...last, value: nextNumber(String(last['value'])) }
    return reply(call, { ...result, transactions: [...list.slice(0, -1), changed] })
  },
} as const satisfies Record<string, Lie>

/** Every way in which a node may say what is not true. */
const lies = { ...malformed, ...ofOtherThings, ...unproven }

export type LieKind = keyof typeof lies

const kindsOf = (of: Partial<typeof lies>) => Object.keys(of) as LieKind[]

export const lieKinds: readonly LieKind[] = kindsOf(lies)

/** Lies in the form of an honest answer, each about some methods only. */
export const contentLies: readonly LieKind[] = [...kindsOf(ofOtherThings), ...kindsOf(unproven)]

/** Lies that only `full` sees, and that are passed on when no other upstream can be asked. */
export const unprovenLies: readonly LieKind[] = kindsOf(unproven)

/**
 * Of the kinds, the first that has something to say about a call.
 * @param honest the honest answer's text
 * @param answer gives the honest answer to another call
 * @returns null when the node has to be honest about such a call
 */
export function lieAbout(
  kinds: readonly LieKind[],
  call: LiedAbout,
  honest: string,
  answer: (call: LiedAbout) => string,
): { readonly kind: LieKind; readonly body: string } | null {
  const resultOf = (text: string) => (JSON.parse(text) as { result?: unknown }).result
  const result = resultOf(honest)
  if (result === undefined) return null
  const other = (about: LiedAbout) => resultOf(answer(about)) ?? null
  for (const kind of kinds) {
    const lie: Lie = lies[kind]
    const body = lie({ call, result, honest, other })
    if (body !== null && body !== honest) return { kind, body }
  }
  return null
}

const enveloped = new Set(kindsOf(malformed))
const checked = new Set([...enveloped, ...kindsOf(ofOtherThings)])

/** Lies that are no answer while another upstream has a better one, at each level of checks. */
export const coveredAt: Readonly<Record<IntegrityLevel, ReadonlySet<LieKind>>> = {
  off: new Set(),
  envelope: enveloped,
  core: checked,
  full: checked,
}
