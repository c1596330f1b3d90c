// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import type { Block } from '../e2e/upstream-sim/shapes.ts'
import { loadCatalog } from '../proxy/chain/load-catalog.ts'
import { BlockMemory } from '../proxy/relay/integrity/block-memory.ts'
import { findViolation } from '../proxy/relay/integrity/find-violation.ts'
import { valueEnd } from '../proxy/json/value.ts'

// node bench/integrity.ts   what the checks of `--integrity full` cost, beside the envelope's scan

const minMs = 300
const hash = (digit: string) => `0x${digit.repeat(64)}`
const address = `0x${'1'.repeat(40)}`
const common = { blockNumber: '0x10', blockHash: hash('a') }

const hashAt = (at: number) => `0x${at.toString(16).padStart(64, 'e')}`

const logs = (count: number, first = 0, transaction = 1) =>
  Array.from({ length: count }, (_, at) => ({
    ...common,
    address,
    topics: [hash('b'), hash('c'), hash('d')],
    data: `0x${'0'.repeat(64)}`,
    transactionHash: hashAt(transaction),
    transactionIndex: `0x${transaction.toString(16)}`,
    logIndex: `0x${(first + at).toString(16)}`,
    removed: false,
  }))
const transactions = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...common,
    hash: hashAt(at),
    from: address,
    to: address,
    input: `0x${'ab'.repeat(100)}`,
    transactionIndex: `0x${at.toString(16)}`,
  }))
const hashesOf = ({ transactions: all }: Block) => all.map((each) => each.hash)
const receipts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...common,
    transactionHash: hashAt(at),
    transactionIndex: `0x${at.toString(16)}`,
    logsBloom: `0x${'00'.repeat(256)}`,
    status: '0x1',
    logs: logs(2, 2 * at, at),
  }))
const block = {
  number: '0x10',
  hash: hash('a'),
  parentHash: hash('b'),
  gasUsed: '0x0',
  timestamp: '0x1',
}
/** With what its hashes are made from, so that they are worked out. */
const chain = createChainModel({ seed: 'bench', head: 90 })
const { block: whole } = chain.block(16)
const signed = whole.transactions[0]!
const hydrated = Array.from({ length: 90 }, (_, at) => chain.block(at).block.transactions)
  .flat()
  .slice(0, 200)
  .map((transaction, at) => ({
    ...transaction,
    ...{ blockNumber: whole.number, blockHash: whole.hash },
    transactionIndex: `0x${at.toString(16)}`,
  }))
const filter = { fromBlock: '0x10', toBlock: '0x20', address: [address], topics: [[hash('b')]] }

const cases: readonly (readonly [string, readonly unknown[], unknown])[] = [
  ['eth_getTransactionByHash', [hashAt(0)], transactions(1)[0]],
  ['eth_getTransactionByHash', [signed.hash], signed],
  ['eth_getBlockByNumber', ['0x10', false], { ...block, transactions: [] }],
  ['eth_getBlockByNumber', ['0x10', false], { ...whole, transactions: hashesOf(whole) }],
  ['eth_getBlockByNumber', ['0x10', true], { ...block, transactions: transactions(200) }],
  ['eth_getBlockByNumber', ['0x10', true], { ...whole, transactions: hydrated }],
  ['eth_getBlockReceipts', ['0x10'], receipts(200)],
  ['eth_getLogs', [filter], logs(10)],
  ['eth_getLogs', [filter], logs(1_500)],
  ['eth_getLogs', [filter], logs(15_000)],
]

const iface = (await loadCatalog([])).find('ETH1')?.interfaces.get('jsonrpc')
if (!iface) throw new Error('the bundled specs lack ETH1')

console.log('| method | body KB | checks us | us per KB | envelope us per KB |')
console.log('|---|---|---|---|---|')
for (const [method, params, result] of cases) {
  const bytes = Buffer.from(JSON.stringify(result))
  const { checks, block: asked } = iface.classify({ apiInterface: 'jsonrpc', method, params })
  const question = {
    checks,
    block: asked,
    upstream: 'a',
    skipVerifications: [],
    horizon: () => null,
  }
  const memory = new BlockMemory()
  const span = { start: 0, end: bytes.length }
  const check = () => {
    const found = findViolation(bytes, span, question, memory)
    if (found) throw new Error(`${method}: ${found.evidence}`)
  }
  const checkUs = usPerRun(check)
  const scanUs = usPerRun(() => valueEnd(bytes, 0))
  const kilobytes = bytes.length / 1_000
  const cells = [
    method,
    kilobytes.toFixed(1),
    checkUs.toFixed(1),
    (checkUs / kilobytes).toFixed(2),
    (scanUs / kilobytes).toFixed(2),
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

function usPerRun(run: () => void): number {
  let runs = 0
  for (let each = 0; each < 20; each++) run()
  const start = performance.now()
  while (performance.now() - start < minMs) {
    run()
    runs += 1
  }
  return ((performance.now() - start) * 1_000) / runs
}
