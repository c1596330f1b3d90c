// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { labelLies } from './label-lies.ts'
import {
  withOneReceipt,
  withReceipt,
  withLast,
  withTransactions,
  withBlock,
  logsOf,
  isBlock,
  isTransaction,
} from './lie-tools.ts'
import {
  filterOf,
  isObject,
  nextNumber,
  otherHash,
  reply,
  withField,
  withLastLog,
  type Fields,
  type Lie,
  type Lying,
} from './lying.ts'

/** The logs of a receipt with another value in the last one; null when there is none. */
function withLogField(receipt: Fields, field: string): Fields | null {
  const logs = receipt['logs'] as readonly Fields[]
  const last = logs.at(-1)
  if (!last) return null
  return { ...receipt, logs: withLast(logs, { [field]: otherHash(String(last[field])) }) }
}

function withoutLogs(receipt: Fields): Fields | null {
  return (receipt['logs'] as readonly unknown[]).length === 0 ? null : { ...receipt, logs: [] }
}

/** The second to last object names what the last one names: each with a place of its own. */
function withCopiedHash(list: readonly unknown[], field: string): readonly unknown[] | null {
  const [before, last] = list.slice(-2) as [Fields?, Fields?]
  return isObject(before) && last ? withLast(list, { [field]: before[field] }) : null
}

/** The receipts of a block; null for another answer, and for a block without any. */
function receiptsOf({ call, result }: Lying): readonly Fields[] | null {
  if (call.method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return null
  return result.length === 0 ? null : (result as Fields[])
}

/** Lies that are right in their form, and in all that a careless look would compare. */
export const subtleLies = {
  // Seen through by what the answer says of itself.
  'log-doubled': (lying) => {
    const logs = logsOf(lying)
    return logs.length === 0 ? null : reply(lying.call, [...logs, logs.at(-1)])
  },
  'log-taken-back': (lying) => {
    const logs = logsOf(lying)
    return logs.length === 0 ? null : reply(lying.call, withLast(logs, { removed: true }))
  },
  /** The right address, and another event than the filter names. */
  'log-of-other-event': (lying) => {
    const [log, ...rest] = logsOf(lying)
    const wanted = filterOf(lying)['topics']
    if (!log || !Array.isArray(wanted) || !wanted[0]) return null
    const [event, ...topics] = log['topics'] as [string, ...string[]]
    return reply(lying.call, [{ ...log, topics: [otherHash(event), ...topics] }, ...rest])
  },
  'log-of-other-block': (lying) => {
    const [from, to] = [filterOf(lying)['fromBlock'], filterOf(lying)['toBlock']]
    const logs = logsOf(lying)
    if (from !== to || logs.length < 2) return null
    return withLastLog(lying, 'blockHash', otherHash)
  },
  'log-of-other-transaction': (lying) => {
    const logs = logsOf(lying)
    const hashOf = (log: Fields | undefined) => String(log?.['transactionHash'])
    const at = logs.findIndex((log, index) => index > 0 && hashOf(log) === hashOf(logs[index - 1]))
    if (at < 0) return null
    const log = { ...logs[at], transactionHash: otherHash(hashOf(logs[at])) }
    return reply(lying.call, logs.with(at, log))
  },
  'receipt-without-logs': (lying) => withReceipt(lying, withoutLogs),
  'receipt-with-other-address': (lying) =>
    withReceipt(lying, (receipt) => withLogField(receipt, 'address')),
  'receipt-log-of-other-block': (lying) =>
    withReceipt(lying, (receipt) => withLogField(receipt, 'blockHash')),
  'receipts-one-without-logs': (lying) => withOneReceipt(lying, withoutLogs),
  'receipts-log-of-other-transaction': (lying) =>
    withOneReceipt(lying, (receipt) => withLogField(receipt, 'transactionHash')),
  'receipts-first-missing': ({ call, result }) =>
    call.method === 'eth_getBlockReceipts' && Array.isArray(result) && result.length > 1
      ? reply(call, result.slice(1))
      : null,
  /** True receipts, of the block before. */
  'receipts-of-parent': ({ call, other }) => {
    const [block] = call.params
    if (call.method !== 'eth_getBlockReceipts' || !/^0x[0-9a-f]+$/.test(String(block))) return null
    const result = other({ ...call, params: [`0x${(Number(block) - 1).toString(16)}`] })
    return Array.isArray(result) && result.length > 0 ? reply(call, result) : null
  },
  /** The header has the root of their list, which is that of none. */
  'block-with-uncle': (lying) => withBlock(lying, { uncles: [otherHash(`0x${'0'.repeat(64)}`)] }),
  'block-with-withdrawal': (lying) =>
    withBlock(lying, { withdrawals: [{ index: '0x1', amount: '0x1' }] }),
  // What every node gives is not there, or in another form.
  'logs-null': ({ call }) => (call.method === 'eth_getLogs' ? reply(call, null) : null),
  'receipt-logs-null': (lying) => withReceipt(lying, (receipt) => ({ ...receipt, logs: null })),
  'receipt-logs-missing': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, logs: undefined })),
  'receipt-without-bloom': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, logs: [], logsBloom: undefined })),
  'receipt-with-short-bloom': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, logs: [], logsBloom: '0x00' })),
  'receipts-as-hashes': (lying) => {
    const hashes = receiptsOf(lying)?.map((each) => each['transactionHash'])
    return hashes ? reply(lying.call, hashes) : null
  },
  'receipts-with-copied-hash': (lying) => {
    const logsBloom = `0x${'00'.repeat(256)}`
    const bare = receiptsOf(lying)?.map((each) => ({ ...each, logs: [], logsBloom }))
    const copied = withCopiedHash(bare ?? [], 'transactionHash')
    return copied && reply(lying.call, copied)
  },
  /** Within a block the logs count on from receipt to receipt. */
  'receipts-logs-counted-anew': (lying) => {
    const receipts = receiptsOf(lying)
    const logs = (receipt: Fields | undefined) => (receipt?.['logs'] ?? []) as readonly Fields[]
    const at = receipts?.findLastIndex((each) => logs(each).length > 0) ?? -1
    if (!receipts || !receipts.slice(0, Math.max(0, at)).some((each) => logs(each).length > 0))
      return null
    const anew = logs(receipts[at]).map((log, index) => ({
      ...log,
      logIndex: `0x${index.toString(16)}`,
    }))
    return reply(lying.call, receipts.with(at, { ...receipts[at], logs: anew }))
  },
  'block-without-hash': (lying) => withBlock(lying, { hash: null }),
  'block-without-parent': (lying) => withBlock(lying, { parentHash: undefined }),
  'block-without-transactions': (lying) => withBlock(lying, { transactions: undefined }),
  /** Hashes where objects were asked for, or objects where hashes were. */
  'block-in-other-form': (lying) =>
    withTransactions(lying, (all) =>
      all.map((each) => (isObject(each) ? each['hash'] : { hash: each })),
    ),
  'transaction-with-copied-hash': (lying) =>
    withTransactions(lying, (all) => withCopiedHash(all, 'hash')),
  'block-emptied': (lying) => withTransactions(lying, () => []),
  'transaction-doubled': (lying) =>
    withTransactions(lying, (transactions) => [...transactions, transactions.at(-1)]),
  'transaction-missing': (lying) =>
    withTransactions(lying, ([first, ...rest]) => (isObject(first) && rest[0] ? rest : null)),
  'transaction-of-other-block': (lying) =>
    withTransactions(lying, (transactions) => {
      const last = transactions.at(-1)
      if (!isObject(last)) return null
      return withLast(transactions, { blockHash: otherHash(String(last['blockHash'])) })
    }),
  /** The right height, and the hash of the block before. */
  'hash-of-parent': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' && isObject(lying.result)
      ? withField(lying, 'hash', () => String((lying.result as Fields)['parentHash']))
      : null,
  'nothing-in-it': (lying) =>
    lying.call.method === 'eth_getBlockByNumber' ? reply(lying.call, {}) : null,
  // Seen through by the hash, which nothing else makes.
  'other-parent': (lying) => (isBlock(lying) ? withField(lying, 'parentHash', otherHash) : null),
  'other-time': (lying) => (isBlock(lying) ? withField(lying, 'timestamp', nextNumber) : null),
  'other-state-root': (lying) => (isBlock(lying) ? withField(lying, 'stateRoot', otherHash) : null),
  'other-miner': (lying) => (isBlock(lying) ? withField(lying, 'miner', otherHash) : null),
  'other-gas-limit': (lying) => (isBlock(lying) ? withField(lying, 'gasLimit', nextNumber) : null),
  /** As if it were of an older fork. */
  'fork-member-missing': (lying) => withBlock(lying, { parentBeaconBlockRoot: undefined }),
  /** As if it were of a fork to come. */
  'fork-member-added': (lying) =>
    withBlock(lying, { stateRoot: `0x${'5'.repeat(64)}`, fromTheFuture: '0x1' }),
  'other-value': (lying) => (isTransaction(lying) ? withField(lying, 'value', nextNumber) : null),
  'other-receiver': (lying) => (isTransaction(lying) ? withField(lying, 'to', otherHash) : null),
  'other-input': (lying) =>
    isTransaction(lying) ? withField(lying, 'input', (own) => `${own}00`) : null,
  'transaction-with-other-value': (lying) =>
    withTransactions(lying, (all) => {
      const last = all.at(-1)
      return isObject(last) ? withLast(all, { value: nextNumber(String(last['value'])) }) : null
    }),
  // Seen through by what the answer says of itself.
  'block-without-time': (lying) => withBlock(lying, { timestamp: undefined }),
  'transaction-without-sender': (lying) =>
    withTransactions(lying, (all) =>
      isObject(all.at(-1)) ? withLast(all, { from: undefined }) : null,
    ),
  /** Go reads the last one. */
  'number-in-capitals': (lying) => withBlock(lying, { NUMBER: '0x1' }),
  'log-in-capitals': (lying) => {
    const logs = logsOf(lying)
    return logs.length === 0 ? null : reply(lying.call, withLast(logs, { ADDRESS: '0x' }))
  },
  ...labelLies,
  'receipt-of-more-gas': (lying) =>
    withReceipt(lying, (receipt) => ({
      ...receipt,
      gasUsed: nextNumber(String(receipt['cumulativeGasUsed'])),
    })),
  'receipts-of-less-gas': ({ call, result }) =>
    call.method === 'eth_getBlockReceipts' && Array.isArray(result) && result.length > 1
      ? reply(call, withLast(result, { cumulativeGasUsed: '0x1' }))
      : null,
  'receipt-failed-with-logs': (lying) =>
    withReceipt(lying, (receipt) =>
      Array.isArray(receipt['logs']) && receipt['logs'].length > 0
        ? { ...receipt, status: '0x0' }
        : null,
    ),

  'receipt-of-other-status': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, status: '0x7' })),
  'receipt-log-taken-back': (lying) =>
    withReceipt(lying, (receipt) => {
      const logs = receipt['logs'] as readonly Fields[]
      return logs.length === 0 ? null : { ...receipt, logs: withLast(logs, { removed: true }) }
    }),
  'log-with-five-topics': (lying) => {
    const logs = logsOf(lying)
    const topics = Array<string>(5).fill(`0x${'5'.repeat(64)}`)
    const hasOwn = filterOf(lying)['topics'] !== undefined
    return logs.length === 0 || hasOwn ? null : reply(lying.call, withLast(logs, { topics }))
  },
  'nonce-without-end': ({ call }) =>
    call.method === 'eth_getTransactionCount' ? reply(call, `0x${'f'.repeat(18)}`) : null,
  'other-digest': ({ call }) =>
    call.method === 'web3_sha3' ? reply(call, `0x${'5'.repeat(64)}`) : null,
  // Seen through by what an honest node showed of the block.
  'transaction-of-other-height': (lying) =>
    lying.call.method === 'eth_getTransactionByHash'
      ? withField(lying, 'blockNumber', nextNumber)
      : null,
  'receipt-of-other-height': (lying) =>
    withReceipt(lying, (receipt) => {
      const over = { blockNumber: nextNumber(String(receipt['blockNumber'])) }
      const logs = (receipt['logs'] as readonly Fields[]).map((log) => ({ ...log, ...over }))
      return { ...receipt, ...over, logs }
    }),
  // Only doubted: some node may have its reasons.
  'code-cut': ({ call, result }) =>
    call.method === 'eth_getCode' && String(result).length > 3
      ? reply(call, String(result).slice(0, -1))
      : null,
  'receipt-without-status': (lying) =>
    withReceipt(lying, (receipt) => ({ ...receipt, status: undefined })),
  /** A root is what older receipts have in its place. */
  'receipt-with-root': (lying) =>
    withReceipt(lying, (receipt) =>
      receipt['type'] === '0x0'
        ? null
        : { ...receipt, status: undefined, root: `0x${'5'.repeat(64)}` },
    ),
  'transaction-without-block-hash': (lying) =>
    lying.call.method === 'eth_getTransactionByHash' && isObject(lying.result)
      ? reply(lying.call, { ...lying.result, blockHash: null })
      : null,
  'log-far-above': (lying) => {
    const logs = logsOf(lying)
    const { toBlock } = filterOf(lying)
    const over = { blockNumber: '0xffffffff', blockHash: `0x${'5'.repeat(64)}` }
    if (toBlock !== 'latest' || logs.length === 0) return null
    return reply(lying.call, [...logs, { ...logs.at(-1), ...over }])
  },
  'log-transaction-of-other-block': (lying) => {
    const logs = logsOf(lying)
    const at = logs.findIndex(({ blockNumber }) => blockNumber !== logs[0]?.['blockNumber'])
    if (at < 0 || logs[at]!['transactionHash'] === logs[at + 1]?.['transactionHash']) return null
    const { transactionHash } = logs[0]!
    return reply(lying.call, logs.with(at, { ...logs[at], transactionHash }))
  },

  /** Words that nodes have for other methods. */
  'error-out-of-place': ({ call }) => {
    const error = outOfPlace(call.method)
    return error && JSON.stringify({ jsonrpc: '2.0', id: call.id, error })
  },
  'other-chain': ({ call }) => (call.method === 'eth_chainId' ? reply(call, '0x2') : null),

  // What nobody can see by one answer, or only by what was heard before.
  'transactions-cut': (lying) =>
    withTransactions(lying, (all) => (all.length > 1 ? all.slice(0, -1) : null)),
  'logs-cut': (lying) => {
    const logs = logsOf(lying)
    return logs.length === 0 ? null : reply(lying.call, logs.slice(0, logs.length >> 1))
  },
  'other-sender': (lying) =>
    lying.call.method === 'eth_getTransactionByHash' ? withField(lying, 'from', otherHash) : null,
} as const satisfies Record<string, Lie>

export type SubtleLieKind = keyof typeof subtleLies

/** Nobody can see these by one answer. */
const invisible: readonly SubtleLieKind[] = ['transactions-cut', 'logs-cut', 'other-sender']

/**
 * The checks see through these once an honest answer has shown what the chain makes its hashes from.
 * Until then they are doubted: such an answer is passed on when nobody else can be asked.
 */
export const provableLies: ReadonlySet<string> = new Set<SubtleLieKind>([
  'other-parent',
  'other-time',
  'other-state-root',
  'other-miner',
  'other-gas-limit',
  'fork-member-missing',
  'fork-member-added',
  'other-value',
  'other-receiver',
  'other-input',
  'transaction-of-unknown-type',
  'transaction-in-block-of-unknown-type',
  'transaction-with-other-value',
  'transaction-of-other-height',
  'receipt-of-other-height',
])

/** An error that no node can have about such a method. */
function outOfPlace(method: string): { readonly code: number; readonly message: string } | null {
  if (/^(?:eth_(?:chainId|blockNumber|gasPrice|syncing)|net_version)$/.test(method))
    return { code: -32602, message: 'Invalid params' }
  if (/^eth_getTransaction|^web3_sha3$/.test(method))
    return { code: -32000, message: 'nonce too low: next nonce 5, tx nonce 4' }
  if (/^eth_get(?:Balance|Code|Storage)/.test(method))
    return { code: -32000, message: 'insufficient funds for gas * price + value' }
  return method.startsWith('eth_get') ? { code: 3, message: 'execution reverted' } : null
}

/** These are doubted, and cost nobody a violation: they are passed on when nobody else can be asked. */
export const doubtedLies: ReadonlySet<string> = new Set<SubtleLieKind>([
  'code-cut',
  'receipt-without-status',
  'receipt-with-root',
  'transaction-without-block-hash',
  'log-far-above',
  'log-transaction-of-other-block',
  'error-out-of-place',
])

/** Those that the checks see through, whatever was heard before. */
export const visibleSubtleLies: readonly SubtleLieKind[] = (
  Object.keys(subtleLies) as SubtleLieKind[]
).filter((kind) => !invisible.includes(kind))
