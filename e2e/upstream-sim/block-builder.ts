// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { encodeRlp, toBeArray } from 'ethers'
import type { Draft } from './drafts.ts'
import { digest, type Hex, keccak256, toData, toQuantity } from './hex.ts'

const zeroHash: Hex = `0x${'0'.repeat(64)}`
const emptyRoot: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const noUnclesHash: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

export interface BlockPlan {
  readonly seed: string
  readonly height: number
  /** Blocks at the same height on two branches differ. */
  readonly branch: number
  /** Null for genesis. */
  readonly parentHash: Hex | null
  readonly timestampSeconds: number
  readonly baseFeeWei: number
  readonly drafts: readonly Draft[]
}

/* JSON-RPC objects of Ethereum, as nodes return them. */
export type MinedBlock = ReturnType<typeof buildBlock>
export type Transaction = MinedBlock['block']['transactions'][number]
export type Receipt = MinedBlock['receipts'][number]
export type Log = Receipt['logs'][number]

/** A block with its receipts and logs: all numbers, hashes and indexes in them are consistent. */
export function buildBlock(plan: BlockPlan) {
  const { height, drafts } = plan
  const header = headerOf(plan)
  const hash = headerHash(header)
  const { number: blockNumber, timestamp: blockTimestamp } = header
  let cumulativeGas = 0
  let logIndex = 0
  const transactions = drafts.map(({ transaction }, index) => ({
    ...transaction,
    ...{ blockHash: hash, blockNumber, transactionIndex: toQuantity(index) },
  }))
  const receipts = drafts.map(({ transaction, gasUsed, succeeds, ...draft }, index) => {
    const placed = { blockHash: hash, blockNumber, transactionIndex: toQuantity(index) }
    const { hash: transactionHash, from, to, gasPrice, type } = transaction
    const logs = draft.logs.map((log) => ({
      ...log,
      ...placed,
      blockTimestamp,
      transactionHash,
      logIndex: toQuantity(logIndex++),
      removed: false,
    }))
    cumulativeGas += gasUsed
    return {
      ...placed,
      ...{ transactionHash, from, to, type, logs, logsBloom: bloomOf(logs) },
      contractAddress: draft.contractAddress,
      cumulativeGasUsed: toQuantity(cumulativeGas),
      gasUsed: toQuantity(gasUsed),
      effectiveGasPrice: gasPrice,
      status: succeeds ? '0x1' : '0x0',
    }
  })
  return { height, hash, block: { ...header, hash, transactions }, receipts }
}

function headerOf(plan: BlockPlan) {
  const { seed, height, branch, parentHash, drafts } = plan
  const root = (kind: string) => toData(digest(seed, kind, branch, height, parentHash ?? ''))
  return {
    number: toQuantity(height),
    parentHash: parentHash ?? zeroHash,
    nonce: '0x0000000000000000',
    sha3Uncles: noUnclesHash,
    logsBloom: bloomOf(drafts.flatMap(({ logs }) => logs)),
    transactionsRoot: drafts.length === 0 ? emptyRoot : root('transactions-root'),
    stateRoot: root('state-root'),
    receiptsRoot: drafts.length === 0 ? emptyRoot : root('receipts-root'),
    miner: toData(digest(seed, 'miner', height % 5).subarray(0, 20)),
    difficulty: '0x0',
    extraData: toData(Buffer.from('upstream-sim')),
    size: toQuantity(600 + 180 * drafts.length),
    gasLimit: toQuantity(36_000_000),
    gasUsed: toQuantity(drafts.reduce((sum, draft) => sum + draft.gasUsed, 0)),
    timestamp: toQuantity(plan.timestampSeconds),
    baseFeePerGas: toQuantity(plan.baseFeeWei),
    mixHash: root('mix-hash'),
    withdrawals: [],
    withdrawalsRoot: emptyRoot,
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: root('beacon-root'),
    uncles: [],
  } as const
}

/** The hash of a Cancun header. It uses a different library than the router, as a cross-check. */
function headerHash(header: ReturnType<typeof headerOf>): Hex {
  const { parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot } = header
  const { logsBloom, difficulty, number, gasLimit, gasUsed, timestamp, extraData } = header
  const { mixHash, nonce, baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas } = header
  const encoded = encodeRlp([
    ...[parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot, logsBloom],
    ...[difficulty, number, gasLimit, gasUsed, timestamp].map((value) => toBeArray(value)),
    ...[extraData, mixHash, nonce, toBeArray(baseFeePerGas), withdrawalsRoot],
    ...[toBeArray(blobGasUsed), toBeArray(excessBlobGas), header.parentBeaconBlockRoot],
  ])
  return toData(keccak256(Buffer.from(encoded.slice(2), 'hex')))
}

/** The bloom filter of a block: it matches everything if there are logs. */
function bloomOf(logs: readonly unknown[]): Hex {
  return `0x${(logs.length > 0 ? 'ff' : '00').repeat(256)}`
}

/** The pending block, which has no hash and no miner yet. */
export function asPending({ block }: MinedBlock) {
  const nowhere = { blockHash: null, blockNumber: null, transactionIndex: null }
  const transactions = block.transactions.map((transaction) => ({ ...transaction, ...nowhere }))
  return { ...block, hash: null, nonce: null, miner: null, logsBloom: null, transactions }
}
