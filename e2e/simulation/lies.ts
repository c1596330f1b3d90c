// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { IntegrityLevel } from '../../proxy/config/types.ts'
import {
  filterOf,
  nextNumber,
  otherHash,
  reply,
  withField,
  withLastLog,
  type Fields,
  type Lie,
  type Lying,
} from './lying.ts'
import {
  doubtedLies,
  provableLies,
  subtleLies,
  visibleSubtleLies,
  type SubtleLieKind,
} from './subtle-lies.ts'

/** The only log of a block that is asked for by its hash: nothing tells its height. */
function isOnlyLog(lying: Lying): boolean {
  const { result } = lying
  return filterOf(lying)['blockHash'] !== undefined && Array.isArray(result) && result.length < 2
}

/** A filter without an end goes on to the latest block. */
function isOpenAbove(lying: Lying): boolean {
  const { blockHash, toBlock = 'latest' } = filterOf(lying)
  return blockHash === undefined && toBlock === 'latest'
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

/** Every way in which a node may say what is not true. */
const lies = {
  ...subtleLies,
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
  'other-version': ({ call, result }) => JSON.stringify({ jsonrpc: '3.0', id: call.id, result }),
  'no-id': ({ result }) => JSON.stringify({ jsonrpc: '2.0', result }),
  /** A true answer about the block before. */
  'wrong-block': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' ? aboutTheNextBlock(lying) : null,
  /** The same, with so much behind it that it streams. */
  'padded-behind': (lying) => {
    const lie = lying.call.method === 'eth_getBlockByNumber' ? aboutTheNextBlock(lying) : null
    return lie && lie + ' '.repeat(lying.longBytes)
  },
  /** The same, with so much in it that its end comes late. */
  'padded-within': (lying) => {
    const lie = lying.call.method === 'eth_getBlockByNumber' ? aboutTheNextBlock(lying) : null
    return lie && `${lie.slice(0, -2)},"x":"${'y'.repeat(lying.longBytes)}"}}`
  },
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
    isOpenAbove(lying) || isOnlyLog(lying)
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

/**
 * A lie that speaks against others: who is asked for the block later contradicts the liar, and
 * nobody can tell which of the two is right.
 */
const slander: LieKind = 'other-parent'

/** They speak of an honest block: until it is known who is right, the honest answer may be doubted. */
export const slanders: ReadonlySet<LieKind> = new Set([
  slander,
  'hash-of-parent',
  'transaction-of-other-height',
  'receipt-of-other-height',
])

/** Among others it would leave them little to say. */
const ofMostReads: LieKind = 'error-out-of-place'

/**
 * Lies in the form of an honest answer, each about some methods only; but for those that would have
 * the liar rejected by its verification.
 */
export const contentLies: readonly LieKind[] = [
  'wrong-block',
  'padded-behind',
  'padded-within',
  'wrong-number',
  'wrong-hash',
  'wrong-transaction',
  'wrong-receipt',
  'log-out-of-range',
  'log-of-other-address',
  'logs-unsorted',
  'receipts-mixed',
  ...(Object.keys(subtleLies) as SubtleLieKind[]).filter(
    (kind) => kind !== slander && kind !== 'other-chain' && kind !== ofMostReads,
  ),
]

/** @returns the body of the lie; null when the node has to be honest about such a call */
export function tell(kind: LieKind, lying: Lying): string | null {
  const lie: Lie = lies[kind]
  return lie(lying)
}

/** Lies that are not even an answer in form. */
const malformed: readonly LieKind[] = [
  'cut-json',
  'empty-body',
  'html-page',
  'two-documents',
  'no-result',
  'result-and-error',
  'wrong-id',
  'no-id',
  'other-version',
]

/**
 * The lies that the engine claims to see through: none of them is ever an answer to a client. Lies
 * that are not listed may get through, and cost nobody a violation.
 */
export const coveredLies: ReadonlySet<LieKind> = new Set<LieKind>([
  ...malformed,
  'wrong-block',
  'padded-behind',
  'padded-within',
  'wrong-number',
  'wrong-hash',
  'wrong-transaction',
  'wrong-receipt',
  'log-out-of-range',
  'log-of-other-address',
  'logs-unsorted',
  'receipts-mixed',
  ...visibleSubtleLies,
])

/** Those that are never an answer, whatever was heard before, at each level of checks. */
const covered = new Set(
  [...coveredLies].filter((kind) => !provableLies.has(kind) && !doubtedLies.has(kind)),
)
export const coveredAt: Readonly<Record<IntegrityLevel, ReadonlySet<LieKind>>> = {
  off: new Set(),
  envelope: new Set(malformed),
  core: covered,
  full: covered,
}
