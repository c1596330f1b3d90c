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
}

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

/** Asks about the next block instead. */
function aboutTheNextBlock({ call, other }: Lying): string | null {
  const at = call.params.findIndex(
    (each) => typeof each === 'string' && /^0x[0-9a-f]{1,12}$/.test(each),
  )
  if (at < 0) return null
  const params = call.params.with(at, `0x${(Number(call.params[at]) - 1).toString(16)}`)
  const result = other({ ...call, params })
  return result === null ? null : reply(call, result)
}

/**
 * Every way in which a node may say what is not true. A lie gives the body that is sent, or null
 * where it has nothing to say about such a call, and the honest answer goes out.
 */
const lies = {
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
  /** A true answer about the block before. */
  'wrong-block': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' ? aboutTheNextBlock(lying) : null,
  'wrong-number': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' && lying.call.params[0] !== 'latest'
      ? withField(lying, 'number', nextNumber)
      : null,
  'wrong-hash': (lying) =>
    lying.call.method === 'eth_getBlockByHash' ? withField(lying, 'hash', otherHash) : null,
  'wrong-transaction': (lying) =>
    lying.call.method === 'eth_getTransactionByHash' ? withField(lying, 'hash', otherHash) : null,
  'wrong-receipt': (lying) =>
    lying.call.method === 'eth_getTransactionReceipt'
      ? withField(lying, 'transactionHash', otherHash)
      : null,
  /** What `latest` stands for is the node's to say. */
  'log-out-of-range': (lying) =>
    filterOf(lying)['toBlock'] === 'latest'
      ? null
      : withLastLog(lying, 'blockNumber', (own) => `0x${(Number(own) + 10_000).toString(16)}`),
  'log-of-other-address': (lying) =>
    filterOf(lying)['address'] === undefined ? null : withLastLog(lying, 'address', otherHash),
  'logs-unsorted': ({ call, result }) => {
    if (!Array.isArray(result) || call.method !== 'eth_getLogs') return null
    const numbers = new Set(result.map((log: Fields) => String(log['blockNumber'])))
    return numbers.size < 2 ? null : reply(call, result.toReversed())
  },
  'receipts-mixed': ({ call, result }) => {
    if (!Array.isArray(result) || call.method !== 'eth_getBlockReceipts' || result.length < 2)
      return null
    const last = result.at(-1) as Fields
    return reply(call, [
      ...(result.slice(0, -1) as unknown[]),
      { ...last, blockHash: otherHash(String(last['blockHash'])) },
    ])
  },
  /** Far ahead of the chain. */
  'head-ahead': ({ call, result }) =>
    call.method === 'eth_blockNumber'
      ? reply(call, `0x${(Number(result) + 1_000).toString(16)}`)
      : null,
  'null-result': ({ call }) => reply(call, null),
  /** Nobody can tell from the answer alone. */
  'wrong-state': (lying) =>
    lying.call.method === 'eth_getBalance' ? reply(lying.call, '0x1') : null,
} as const satisfies Record<string, Lie>

export type LieKind = keyof typeof lies

export const lieKinds = Object.keys(lies) as readonly LieKind[]

/** Lies in the form of an honest answer, each about some methods only. */
export const contentLies: readonly LieKind[] = [
  'wrong-block',
  'wrong-number',
  'wrong-hash',
  'wrong-transaction',
  'wrong-receipt',
  'log-out-of-range',
  'log-of-other-address',
  'logs-unsorted',
  'receipts-mixed',
]

/** @returns the body of the lie; null when the node has to be honest about such a call */
export function tell(kind: LieKind, lying: Lying): string | null {
  const lie: Lie = lies[kind]
  return lie(lying)
}

/**
 * The lies that the engine claims to see through: none of them is ever an answer to a client. Lies
 * that are not listed may get through, and cost nobody a violation.
 */
export const coveredLies: ReadonlySet<LieKind> = new Set<LieKind>([
  'cut-json',
  'empty-body',
  'html-page',
  'two-documents',
  'no-result',
  'result-and-error',
  'wrong-id',
  'no-id',
  'wrong-block',
  'wrong-number',
  'wrong-hash',
  'wrong-transaction',
  'wrong-receipt',
  'log-out-of-range',
  'log-of-other-address',
  'logs-unsorted',
  'receipts-mixed',
])
