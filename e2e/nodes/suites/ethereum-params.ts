// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { privateKeyToAddress } from 'viem/accounts'
import { askRpc } from '../../processes/rpc-client.ts'
import { anvilKey } from '../anvil.ts'
import type { GoodParams } from '../json-rpc-calls.ts'
import { tillInitCode } from './till-contract.ts'

/** Methods that change the settings or the chain of the node, write files or report on memory. */
export const neverAskedOfEthereum = new Set([
  'debug_setHead',
  ...['debug_backtraceAt', 'debug_blockProfile', 'debug_chaindbCompact', 'debug_cpuProfile'],
  ...['debug_chaindbProperty', 'debug_freeOSMemory', 'debug_freezeClient', 'debug_gcStats'],
  ...['debug_goTrace', 'debug_memStats', 'debug_metrics', 'debug_mutexProfile', 'debug_stacks'],
  ...['debug_standardTraceBadBlockToFile', 'debug_standardTraceBlockToFile'],
  ...['debug_startCPUProfile', 'debug_startGoTrace', 'debug_stopCPUProfile', 'debug_stopGoTrace'],
  ...['debug_verbosity', 'debug_vmodule', 'debug_writeBlockProfile', 'debug_writeMemProfile'],
  'debug_writeMutexProfile',
  'eth_sendTransaction',
  'eth_sendUnsignedTransaction',
  'eth_resend',
])

const rich = privateKeyToAddress(anvilKey)
const recipient = `0x${'b0'.repeat(20)}`
const noHash = `0x${'ab'.repeat(32)}`

interface Receipt {
  readonly blockHash: string
  readonly contractAddress: string
  readonly transactionHash: string
}

/** Mines some blocks on a node, and returns params for calls about them. */
export async function goodEthereumParams(url: string): Promise<GoodParams> {
  const [from = rich] = await askRpc<string[]>(url, 'eth_accounts')
  const send = async (transaction: object) => sendOn(url, { from, ...transaction })
  const { contractAddress: till } = await send({ data: tillInitCode })
  const paid = await send({ to: till, value: '0x2a' })
  await send({ to: recipient, value: '0x1' })
  const head = Number(await askRpc<string>(url, 'eth_blockNumber'))
  const blocks = [0, head - 1, head, head + 4, 2 ** 40].map((height) => `0x${height.toString(16)}`)
  const tagged = [...blocks, 'latest', 'earliest', 'pending', 'safe', 'finalized']
  const points = [...tagged, { blockHash: paid.blockHash }, { blockNumber: blocks[1] }]
  const hashes = [paid.blockHash, noHash]
  const transactions = [paid.transactionHash, noHash]
  const read = { to: till, data: '0x47799da8' }
  const range = { fromBlock: '0x0', toBlock: 'latest' }
  const raw = await askRpc<string>(url, 'eth_getRawTransactionByHash', [paid.transactionHash])
  const tracers = [{}, { tracer: 'callTracer' }, { tracer: 'prestateTracer' }, { tracer: 'none' }]
  const each = (values: readonly unknown[], ...rest: unknown[]) =>
    values.map((value) => [value, ...rest])
  return {
    web3_sha3: [['0x68656c6c6f'], ['0x']],
    eth_feeHistory: [
      ['0x2', 'latest', [10, 90]],
      ['0x1', blocks[1], []],
      [2, 'latest', null],
    ],
    eth_getBlockByNumber: [...each(tagged, false), ...each(tagged, true)],
    eth_getBlockByHash: [...each(hashes, false), ...each(hashes, true)],
    eth_getHeaderByNumber: each(tagged),
    eth_getHeaderByHash: each(hashes),
    eth_getBlockTransactionCountByNumber: each(tagged),
    eth_getBlockTransactionCountByHash: each(hashes),
    eth_getUncleCountByBlockNumber: each(tagged),
    eth_getUncleCountByBlockHash: each(hashes),
    eth_getUncleByBlockNumberAndIndex: each(tagged, '0x0'),
    eth_getUncleByBlockHashAndIndex: each(hashes, '0x0'),
    eth_getBlockReceipts: each([...tagged, ...hashes]),
    eth_getTransactionByHash: each(transactions),
    eth_getTransactionReceipt: each(transactions),
    eth_getRawTransactionByHash: each(transactions),
    eth_getTransactionByBlockNumberAndIndex: [...each(tagged, '0x0'), ...each(tagged, '0x9')],
    eth_getTransactionByBlockHashAndIndex: each(hashes, '0x0'),
    eth_getRawTransactionByBlockNumberAndIndex: each(tagged, '0x0'),
    eth_getRawTransactionByBlockHashAndIndex: each(hashes, '0x0'),
    eth_getTransactionBySenderAndNonce: [[from, '0x0']],
    eth_getBalance: points.map((point) => [from, point]),
    eth_getTransactionCount: points.map((point) => [from, point]),
    eth_getCode: points.map((point) => [till, point]),
    eth_getStorageAt: points.map((point) => [till, '0x0', point]),
    eth_getStorageValues: [[{ [till]: ['0x0'] }, 'latest']],
    eth_getAccount: tagged.map((point) => [from, point]),
    eth_getAccountInfo: tagged.map((point) => [from, point]),
    eth_getProof: tagged.map((point) => [till, ['0x0'], point]),
    eth_call: [
      ...points.map((point) => [read, point]),
      [{ from: recipient, to: till, value: '0xffffffffffffff' }, 'latest'],
      [read, 'latest', { [till]: { code: '0x60006000fd' } }],
    ],
    eth_estimateGas: [
      [{ from, to: recipient, value: '0x1' }],
      [{ from: recipient, to: till, value: '0x9' }],
    ],
    eth_createAccessList: [[read, 'latest']],
    eth_getLogs: [
      [range],
      [{ ...range, address: till }],
      [{ ...range, address: [till, recipient], topics: [null] }],
      [{ ...range, topics: [[`0x${'00'.repeat(32)}`]] }],
      [{ blockHash: paid.blockHash }],
      [{ blockHash: noHash }],
      [{ fromBlock: blocks[3], toBlock: blocks[4] }],
      [{ fromBlock: blocks[2], toBlock: '0x0' }],
    ],
    eth_sendRawTransaction: [[raw], ['0x02'], ['0x']],
    txpool_contentFrom: [[from]],
    debug_traceTransaction: transactions.flatMap((hash) => tracers.map((tracer) => [hash, tracer])),
    debug_traceCall: tracers.map((tracer) => [read, 'latest', tracer]),
    debug_traceBlockByNumber: tracers.map((tracer) => [blocks[2], tracer]),
    debug_traceBlockByHash: hashes.map((hash) => [hash, {}]),
    debug_getRawBlock: each(tagged),
    debug_getRawHeader: each(tagged),
    debug_getRawReceipts: each(tagged),
    debug_getRawTransaction: each(transactions),
    debug_storageRangeAt: [[paid.blockHash, 0, till, '0x00', 4]],
    trace_block: each(tagged),
    trace_transaction: each(transactions),
    trace_get: [[paid.transactionHash, ['0x0']]],
    trace_call: [[read, ['trace'], 'latest']],
    trace_filter: [[{ fromBlock: '0x0', toBlock: 'latest' }]],
    trace_replayTransaction: [[paid.transactionHash, ['trace']]],
    trace_replayBlockTransactions: [['latest', ['trace']]],
    eth_noSuchMethod: [[1]],
    rpc_unheardOf: [[{ a: [null, true, 1.5, 'é'] }]],
  }
}

/** Sends a transaction for the node to sign, and returns its receipt. */
async function sendOn(url: string, transaction: object): Promise<Receipt> {
  const hash = await askRpc<string>(url, 'eth_sendTransaction', [transaction])
  for (let at = 0; at < 100; at++) {
    const receipt = await askRpc<Receipt | null>(url, 'eth_getTransactionReceipt', [hash])
    if (receipt) return receipt
  }
  throw new Error(`transaction ${hash} was not mined`)
}
