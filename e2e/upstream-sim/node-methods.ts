// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Transaction as SignedTransaction } from 'ethers'
import type { ChainView } from './chain-view.ts'
import { type Hex, keccak256, toData, toQuantity } from './hex.ts'
import type { Methods, Params } from './params.ts'
import { invalidParams, RpcError } from './rpc-error.ts'

const gwei = 1_000_000_000
const maxFeeHistoryBlocks = 1024
const alreadyKnown = () => new RpcError(-32000, 'already known')

/** What concerns the node itself, fees, and the sending of transactions. */
export function nodeMethods(received: Set<string>): Methods {
  return {
    eth_chainId: { maxParams: 0, run: (view) => toQuantity(view.chain.chainId) },
    net_version: { maxParams: 0, run: (view) => String(view.chain.chainId) },
    net_listening: { maxParams: 0, run: () => true },
    net_peerCount: { maxParams: 0, run: () => toQuantity(25) },
    web3_clientVersion: { maxParams: 0, run: (view) => view.settings.clientVersion },
    web3_sha3: {
      maxParams: 1,
      run: (_view, params) => toData(keccak256(Buffer.from(params.data(0).slice(2), 'hex'))),
    },
    eth_syncing: { maxParams: 0, run: syncing },
    eth_accounts: { maxParams: 0, run: () => [] },
    eth_gasPrice: { maxParams: 0, run: (view) => toQuantity(baseFeeAt(view, view.head) + gwei) },
    eth_maxPriorityFeePerGas: { maxParams: 0, run: () => toQuantity(gwei) },
    eth_blobBaseFee: { maxParams: 0, run: () => toQuantity(1) },
    eth_feeHistory: { maxParams: 3, run: feeHistory },
    eth_sendRawTransaction: {
      maxParams: 1,
      run: (view, params) => sendRawTransaction(view, params.data(0), received),
    },
  }
}

/** False, or how far the node is when it is far behind. */
function syncing(view: ChainView): unknown {
  const highest = view.chain.head
  if (highest - view.head < 32) return false
  return {
    startingBlock: '0x0',
    currentBlock: toQuantity(view.head),
    highestBlock: toQuantity(highest),
  }
}

function baseFeeAt(view: ChainView, height: number): number {
  return Number(view.chain.block(height).block.baseFeePerGas)
}

function feeHistory(view: ChainView, params: Params): unknown {
  const count = Math.min(params.quantity(0), maxFeeHistoryBlocks)
  const ref = params.block(1, false)
  const newest = view.heightOf(ref)
  if (newest === null)
    throw new RpcError(
      -32000,
      `request beyond head block: requested ${'height' in ref ? ref.height : ''}, head ${view.head}`,
    )
  const percentiles = params.has(2) ? params.array(2) : []
  if (percentiles.some((one) => typeof one !== 'number' || one < 0 || one > 100))
    throw invalidParams('invalid reward percentile')
  const oldest = Math.max(0, newest - count + 1)
  const heights = Array.from({ length: Math.min(count, newest + 1) }, (_, at) => oldest + at)
  const blocks = heights.map((height) => view.at(height).block)
  return {
    oldestBlock: toQuantity(oldest),
    baseFeePerGas: [
      ...blocks.map((block) => block.baseFeePerGas),
      view.chain.pendingBlock(newest).block.baseFeePerGas,
    ],
    gasUsedRatio: blocks.map((block) => Number(block.gasUsed) / Number(block.gasLimit)),
    ...(percentiles.length > 0
      ? { reward: blocks.map(() => percentiles.map(() => toQuantity(gwei))) }
      : {}),
  }
}

function sendRawTransaction(view: ChainView, raw: Hex, received: Set<string>): string {
  const signed = decode(raw)
  const hash = signed.hash
  const from = signed.from
  if (hash === null || from === null) throw new RpcError(-32000, 'invalid sender')
  if (signed.chainId !== 0n && signed.chainId !== BigInt(view.chain.chainId))
    throw new RpcError(
      -32000,
      `invalid sender: invalid chain id for signer: have ${signed.chainId} want ${view.chain.chainId}`,
    )
  if (received.has(hash)) throw alreadyKnown()
  const next = view.chain.state.nonce(from, view.head)
  const isMined = view.chain.find(hash) !== null
  if (signed.nonce < next && !isMined)
    throw new RpcError(-32000, `nonce too low: next nonce ${next}, tx nonce ${signed.nonce}`)
  const balance = view.chain.state.balance(from, view.head)
  const cost = signed.value + signed.gasLimit * (signed.maxFeePerGas ?? signed.gasPrice ?? 0n)
  if (cost > balance)
    throw new RpcError(
      -32000,
      `insufficient funds for gas * price + value: balance ${balance}, tx cost ${cost}, overshot ${cost - balance}`,
    )
  received.add(hash)
  view.chain.submit(signed)
  return hash
}

function decode(raw: Hex): SignedTransaction {
  try {
    return SignedTransaction.from(raw)
  } catch (cause) {
    throw Object.assign(new RpcError(-32000, 'typed transaction too short'), { cause })
  }
}
