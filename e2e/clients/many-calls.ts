// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { askRpc } from '../processes/rpc-client.ts'

/** A call as its client writes it: the text of an id, a method, and parameters. */
export interface WrittenCall {
  readonly id: string
  readonly method: string
  readonly params: readonly unknown[]
}

interface Block {
  readonly hash: string
  readonly number: string
  readonly transactions: readonly string[]
}

/** Ids that nodes repeat as they were written. */
const ids = ['1', '0', '"a"', '""', '-7', '9007199254740991', '"0x1-2_3"']

/** What a node says of a call, whatever the call: answers, nulls, and errors of its own. */
export async function manyCalls(nodeUrl: string, account: string): Promise<WrittenCall[]> {
  const newest = await askRpc<Block>(nodeUrl, 'eth_getBlockByNumber', ['latest', false])
  const head = Number(newest.number)
  const heights = [0, 1, head - 3, head - 2, head - 1, head, head + 5].map(toHex)
  const blocks = [...heights, 'latest', 'earliest', 'finalized', 'safe', 'pending']
  const found = await Promise.all(
    heights.map((at) => askRpc<Block | null>(nodeUrl, 'eth_getBlockByNumber', [at, false])),
  )
  const hashes = [...found.flatMap((block) => block?.hash ?? []), `0x${'ab'.repeat(32)}`]
  const sent = found.flatMap((block) => block?.transactions.slice(0, 2) ?? [])
  const transactions = [...sent, `0x${'cd'.repeat(32)}`]
  const token = { to: account, data: '0x70a08231' + account.slice(2).padStart(64, '0') }
  const range = { fromBlock: toHex(Math.max(0, head - 3)), toBlock: 'latest' }

  const plain: [string, ...unknown[]][] = [
    ['eth_chainId'],
    ['net_version'],
    ['web3_clientVersion'],
    ['web3_sha3', '0x68656c6c6f'],
    ['eth_blockNumber'],
    ['eth_gasPrice'],
    ['eth_syncing'],
    ['eth_accounts'],
    ['eth_feeHistory', '0x4', 'latest', [10, 90]],
    ['eth_estimateGas', { from: account, to: account, value: '0x1' }],
    ['eth_getLogs', range],
    ['eth_getLogs', { ...range, address: account }],
    ['eth_getLogs', { ...range, topics: [[`0x${'00'.repeat(32)}`], null] }],
    ['eth_getLogs', { blockHash: newest.hash }],
    ['eth_getLogs', { fromBlock: toHex(head), toBlock: toHex(0) }],
    // Wrong input is for the node to judge.
    ['eth_getBalance'],
    ['eth_getBalance', 'nonsense', 'latest'],
    ['eth_getBalance', account, '0x01'],
    ['eth_getBlockByNumber', 'newest', false],
    ['eth_getTransactionByHash', '0x12'],
    ['eth_sendRawTransaction', '0x02'],
    ['eth_noSuchMethod', 1],
    ['rpc_unheardOf', { a: [null, true, 1.5, 'é'] }],
  ]
  for (const block of blocks)
    plain.push(
      ['eth_getBlockByNumber', block, false],
      ['eth_getBlockByNumber', block, true],
      ['eth_getBalance', account, block],
      ['eth_getTransactionCount', account, block],
      ['eth_getCode', account, block],
      ['eth_getStorageAt', account, '0x0', block],
      ['eth_call', token, block],
      ['eth_getBlockTransactionCountByNumber', block],
      ['eth_getBlockReceipts', block],
      ['eth_getTransactionByBlockNumberAndIndex', block, '0x0'],
    )
  for (const hash of hashes)
    plain.push(
      ['eth_getBlockByHash', hash, false],
      ['eth_getBlockByHash', hash, true],
      ['eth_getBlockTransactionCountByHash', hash],
      ['eth_getTransactionByBlockHashAndIndex', hash, '0x0'],
    )
  for (const hash of transactions)
    plain.push(['eth_getTransactionByHash', hash], ['eth_getTransactionReceipt', hash])
  return plain.map(([method, ...params], at) => ({
    id: ids[at % ids.length] ?? '1',
    method,
    params,
  }))
}

/** The text that a client sends. */
export function textOf({ id, method, params }: WrittenCall): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`
}

function toHex(height: number): string {
  return `0x${Math.max(0, height).toString(16)}`
}
