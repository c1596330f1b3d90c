// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { addressOf, balanceOf } from './balances.ts'

/** The requests and answers that the load generator and the mock upstreams share. */
export type ShapeName = 'read' | 'kept' | 'batch' | 'logs' | 'megabyte'

const batchItems = 20
/** Number of distinct balances of the first block, which repeat. */
export const keptBalances = 500

/** One request and its expected answer. */
export interface ShapedRequest {
  readonly body: string
  isRight(answer: Buffer): boolean
}

const hash = (digit: string) => `0x${digit.repeat(64)}`
const address = `0x${'5a'.repeat(20)}`
const block = { number: '0x10', hash: hash('b') }
const filter = {
  fromBlock: block.number,
  toBlock: '0x20',
  address: [address],
  topics: [[hash('d')]],
}

/** Request number `n`. All plain reads use distinct addresses. */
export function requestOf(shape: ShapeName, n: number): ShapedRequest {
  switch (shape) {
    case 'read':
      return {
        body: balanceCall(n),
        isRight: (answer) => holdsBalance(answer.toString('latin1'), n),
      }
    case 'kept': {
      const { isRight } = requestOf('read', n % keptBalances)
      return { body: balanceCall(n % keptBalances, 'earliest'), isRight }
    }
    case 'batch': {
      const numbers = Array.from({ length: batchItems }, (_, item) => n * batchItems + item)
      return {
        body: `[${numbers.map((each) => balanceCall(each)).join(',')}]`,
        isRight: (answer) => {
          const items = answer.toString('latin1').split('},')
          return (
            items.length === batchItems &&
            numbers.every((each, at) => holdsBalance(items[at] ?? '', each))
          )
        },
      }
    }
    case 'logs':
    case 'megabyte': {
      const expected = Buffer.from(fixedAnswer(shape, n))
      return { body: fixedCall(shape, n), isRight: (answer) => answer.equals(expected) }
    }
  }
}

function balanceCall(n: number, block = 'latest'): string {
  return `{"jsonrpc":"2.0","id":${n},"method":"eth_getBalance","params":["${addressOf(n)}","${block}"]}`
}

function holdsBalance(text: string, n: number): boolean {
  return text.includes(`"id":${n}`) && text.includes(`"result":"${balanceOf(addressOf(n))}"`)
}

function fixedCall(shape: 'logs' | 'megabyte', id: number): string {
  const [method, params] =
    shape === 'logs' ? ['eth_getLogs', [filter]] : ['eth_getBlockReceipts', [block.number]]
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

const results: Partial<Record<ShapeName, string>> = {}

/** The exact answer of every mock to these calls. */
export function fixedAnswer(shape: 'logs' | 'megabyte', id: number | string): string {
  results[shape] ??= JSON.stringify(shape === 'logs' ? logs(110) : receipts(610))
  return `{"jsonrpc":"2.0","id":${id},"result":${results[shape]}}`
}

/** Logs of about 550 bytes each. */
function logs(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    address,
    topics: [hash('d'), hash('1'), hash('2')],
    data: `0x${'0'.repeat(64)}`,
    blockNumber: block.number,
    blockHash: block.hash,
    transactionHash: `0x${index.toString(16).padStart(64, 'c')}`,
    transactionIndex: `0x${index.toString(16)}`,
    logIndex: `0x${index.toString(16)}`,
    removed: false,
  }))
}

/** Receipts of about 1,650 bytes each. */
function receipts(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    type: '0x2',
    status: '0x1',
    cumulativeGasUsed: '0x5208',
    logs: logs(1),
    logsBloom: `0x${'0'.repeat(512)}`,
    transactionHash: `0x${index.toString(16).padStart(64, 'c')}`,
    transactionIndex: `0x${index.toString(16)}`,
    blockHash: block.hash,
    blockNumber: block.number,
    gasUsed: '0x5208',
    effectiveGasPrice: '0x3b9aca00',
    from: address,
    to: address,
    contractAddress: null,
  }))
}
