// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { logsBloom, headerHash, type Unhashed } from './hashes.ts'
import type { Draft } from './drafts.ts'
import { digest, type Hex, toData, toQuantity } from './hex.ts'
import type { Block, Log, MinedBlock, Receipt, Transaction } from './shapes.ts'

const gasLimit = 36_000_000
const zeroHash: Hex = `0x${'0'.repeat(64)}`
const emptyRoot: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const noUnclesHash: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** Where a block stands and what it is made of. */
export interface BlockPlan {
  readonly seed: string
  readonly height: number
  /** Blocks of one height on two branches differ. */
  readonly branch: number
  /** Null for genesis. */
  readonly parentHash: Hex | null
  readonly timestampSeconds: number
  readonly baseFeeWei: number
  readonly drafts: readonly Draft[]
}

/** A block with its receipts and logs: every number, hash and index in them fits the others. */
export function buildBlock(plan: BlockPlan): MinedBlock {
  const blockNumber = toQuantity(plan.height)
  const blockTimestamp = toQuantity(plan.timestampSeconds)
  const gasUsed = plan.drafts.reduce((sum, draft) => sum + draft.gasUsed, 0)
  const { length } = plan.drafts
  const root = (kind: string) =>
    toData(digest(plan.seed, kind, plan.branch, plan.height, plan.parentHash ?? ''))
  const header: Unhashed = {
    number: blockNumber,
    parentHash: plan.parentHash ?? zeroHash,
    nonce: '0x0000000000000000',
    sha3Uncles: noUnclesHash,
    logsBloom: logsBloom(plan.drafts.flatMap(({ logs }) => logs)),
    transactionsRoot: length === 0 ? emptyRoot : root('transactions-root'),
    stateRoot: root('state-root'),
    receiptsRoot: length === 0 ? emptyRoot : root('receipts-root'),
    miner: toData(digest(plan.seed, 'miner', plan.height % 5).subarray(0, 20)),
    difficulty: '0x0',
    extraData: toData(Buffer.from('upstream-sim')),
    size: toQuantity(600 + 180 * length),
    gasLimit: toQuantity(gasLimit),
    gasUsed: toQuantity(gasUsed),
    timestamp: blockTimestamp,
    baseFeePerGas: toQuantity(plan.baseFeeWei),
    mixHash: root('mix-hash'),
    withdrawals: [],
    withdrawalsRoot: emptyRoot,
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: root('beacon-root'),
    uncles: [],
  }
  const hash = headerHash(header)
  const transactions: Transaction[] = []
  const receipts: Receipt[] = []
  let cumulativeGas = 0
  let logIndex = 0
  for (const [index, draft] of plan.drafts.entries()) {
    const placed = {
      blockHash: hash,
      blockNumber,
      transactionIndex: toQuantity(index),
    }
    const logs = draft.logs.map((log): Log => ({
      ...log,
      ...placed,
      blockTimestamp,
      transactionHash: draft.transaction.hash,
      logIndex: toQuantity(logIndex++),
      removed: false,
    }))
    cumulativeGas += draft.gasUsed
    transactions.push({ ...draft.transaction, ...placed })
    receipts.push({
      ...placed,
      transactionHash: draft.transaction.hash,
      from: draft.transaction.from,
      to: draft.transaction.to,
      contractAddress: draft.contractAddress,
      cumulativeGasUsed: toQuantity(cumulativeGas),
      gasUsed: toQuantity(draft.gasUsed),
      effectiveGasPrice: draft.transaction.gasPrice,
      status: draft.succeeds ? '0x1' : '0x0',
      type: draft.transaction.type,
      logs,
      logsBloom: logsBloom(logs),
    })
  }
  const block: Block = { ...header, hash, transactions }
  return { height: plan.height, hash, block, receipts }
}

/** The block that a node would mine next: it has no hash and no miner yet. */
export function asPending(mined: MinedBlock): Block {
  return {
    ...mined.block,
    hash: null,
    nonce: null,
    miner: null,
    logsBloom: null,
    transactions: mined.block.transactions.map((transaction) => ({
      ...transaction,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })),
  }
}
