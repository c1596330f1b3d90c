// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Hex } from './hex.ts'

/* The objects of Ethereum's JSON-RPC, as a node writes them. */

export interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly blockTimestamp: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly logIndex: Hex
  readonly removed: false
}

export interface Transaction {
  readonly hash: Hex
  readonly type: Hex
  readonly chainId: Hex
  readonly nonce: Hex
  readonly blockHash: Hex | null
  readonly blockNumber: Hex | null
  readonly transactionIndex: Hex | null
  readonly from: Hex
  readonly to: Hex | null
  readonly value: Hex
  readonly gas: Hex
  readonly gasPrice: Hex
  readonly maxFeePerGas?: Hex
  readonly maxPriorityFeePerGas?: Hex
  readonly accessList?: readonly unknown[]
  readonly yParity?: Hex
  readonly input: Hex
  readonly v: Hex
  readonly r: Hex
  readonly s: Hex
}

export interface Receipt {
  readonly transactionHash: Hex
  readonly transactionIndex: Hex
  readonly blockHash: Hex
  readonly blockNumber: Hex
  readonly from: Hex
  readonly to: Hex | null
  readonly contractAddress: Hex | null
  readonly cumulativeGasUsed: Hex
  readonly gasUsed: Hex
  readonly effectiveGasPrice: Hex
  readonly status: Hex
  readonly type: Hex
  readonly logs: readonly Log[]
  readonly logsBloom: Hex
}

/** A block with its whole transactions; a node sends their hashes instead unless asked. */
export interface Block {
  readonly number: Hex
  readonly hash: Hex | null
  readonly parentHash: Hex
  readonly nonce: Hex | null
  readonly sha3Uncles: Hex
  readonly logsBloom: Hex | null
  readonly transactionsRoot: Hex
  readonly stateRoot: Hex
  readonly receiptsRoot: Hex
  readonly miner: Hex | null
  readonly difficulty: Hex
  readonly extraData: Hex
  readonly size: Hex
  readonly gasLimit: Hex
  readonly gasUsed: Hex
  readonly timestamp: Hex
  readonly baseFeePerGas: Hex
  readonly mixHash: Hex
  readonly withdrawals: readonly unknown[]
  readonly withdrawalsRoot: Hex
  readonly blobGasUsed: Hex
  readonly excessBlobGas: Hex
  readonly parentBeaconBlockRoot: Hex
  readonly uncles: readonly Hex[]
  readonly transactions: readonly Transaction[]
}

/** A block and what happened in it. */
export interface MinedBlock {
  readonly height: number
  readonly hash: Hex
  readonly block: Block
  readonly receipts: readonly Receipt[]
}
