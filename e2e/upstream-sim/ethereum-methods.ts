// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Interface, Transaction as SignedTransaction } from 'ethers'
import { z } from 'zod'
import type { ChainView } from './chain-view.ts'
import { draftOfSigned, intrinsicGas } from './drafts.ts'
import { type Hex, keccak256, toData, toQuantity } from './hex.ts'
import { RpcError } from './json-rpc.ts'
import { logCriteria, logsOf } from './log-filter.ts'
import { address, block, blockOrHash, blockOrLatest, data, flag, hash } from './params.ts'
import { method, quantity } from './params.ts'
import type { Method } from './rpc-node.ts'

const gwei = 1_000_000_000
const revert = new Interface(['error Error(string)']).encodeErrorResult('Error', ['always'])

const callObject = z.object({
  to: address.nullish(),
  data: data.optional(),
  input: data.optional(),
})
/** State overrides of a call are accepted, but not simulated. */
const overrides = z.unknown().optional()

const transactionIn = (found: ReturnType<ChainView['block']>, index: number) =>
  found?.transactions[index] ?? null

export function ethereumMethods(): Readonly<Record<string, Method<ChainView>>> {
  /** Transactions that this node received. */
  const received = new Set<string>()
  return {
    // The node
    eth_chainId: method([], ({ chain }) => toQuantity(chain.chainId)),
    net_version: method([], ({ chain }) => String(chain.chainId)),
    web3_clientVersion: method([], () => 'UpstreamSim/v1.0.0/linux-amd64'),
    web3_sha3: method([data], (_view, bytes) => toData(keccak256(bytesOf(bytes)))),
    eth_accounts: method([], () => []),

    // Fees
    eth_gasPrice: method([], ({ chain, head }) => {
      return toQuantity(Number(chain.block(head).block.baseFeePerGas) + gwei)
    }),
    eth_maxPriorityFeePerGas: method([], () => toQuantity(gwei)),

    // Blocks, transactions, receipts and logs
    eth_blockNumber: method([], ({ head }) => toQuantity(head)),
    eth_getBlockByNumber: method([block, flag], (view, ref, whole) =>
      asAnswer(view.block(ref), whole),
    ),
    eth_getBlockByHash: method([hash, flag], (view, of, whole) =>
      asAnswer(view.block({ hash: of }), whole),
    ),
    eth_getBlockReceipts: method([blockOrHash], (view, ref) => view.mined(ref)?.receipts ?? null),
    eth_getTransactionByBlockNumberAndIndex: method([block, quantity], (view, ref, index) =>
      transactionIn(view.block(ref), index),
    ),
    eth_getTransactionByBlockHashAndIndex: method([hash, quantity], (view, of, index) =>
      transactionIn(view.block({ hash: of }), index),
    ),
    eth_getTransactionByHash: method(
      [hash],
      (view, of) => view.transaction(of)?.transaction ?? waiting(view, of),
    ),
    eth_getTransactionReceipt: method([hash], (view, of) => view.transaction(of)?.receipt ?? null),
    eth_getLogs: method([logCriteria], logsOf),

    // State
    eth_getBalance: method([address, blockOrHash], (view, of, ref) =>
      toQuantity(view.chain.state.balance(of, view.stateHeight(ref))),
    ),
    eth_getTransactionCount: method([address, blockOrHash], (view, of, ref) => {
      const { state, waiting: pool } = view.chain
      const isPending = 'tag' in ref && ref.tag === 'pending'
      const sent = isPending ? pool.filter(({ from }) => from?.toLowerCase() === of).length : 0
      return toQuantity(state.nonce(of, view.stateHeight(ref)) + sent)
    }),
    eth_getCode: method([address, blockOrHash], (view, of, ref) => {
      view.stateHeight(ref)
      return view.chain.state.code(of)
    }),
    eth_call: method([callObject, blockOrLatest, overrides, overrides], (view, call, ref) => {
      const height = view.stateHeight(ref)
      const to = runnable(view, call.to)
      return to === null ? '0x' : view.chain.state.call(to, call.input ?? call.data ?? '0x', height)
    }),
    eth_estimateGas: method([callObject, blockOrLatest, overrides], (view, call, ref) => {
      view.stateHeight(ref)
      const to = runnable(view, call.to)
      const runs = to !== null && view.chain.state.code(to) !== '0x' ? 30_000 : 0
      return toQuantity(intrinsicGas(call.input ?? call.data ?? '0x', to === null) + runs)
    }),
    eth_sendRawTransaction: method([data], (view, raw) => sendRawTransaction(view, raw, received)),
  }
}

function bytesOf(text: Hex): Buffer {
  return Buffer.from(text.slice(2), 'hex')
}

function asAnswer(found: ReturnType<ChainView['block']>, whole: boolean): unknown {
  if (found === null || whole) return found
  return { ...found, transactions: found.transactions.map((transaction) => transaction.hash) }
}

function waiting({ chain }: ChainView, of: string): unknown {
  const placed = chain.sent(of)
  if (placed?.height !== null) return null
  const { transaction } = draftOfSigned(placed.sent, 0)
  return { ...transaction, blockHash: null, blockNumber: null, transactionIndex: null }
}

/** The contract to run. @throws for the reverting contract */
function runnable({ chain }: ChainView, to: string | null | undefined): string | null {
  if (to !== chain.population.revertingContract) return to ?? null
  throw new RpcError(3, 'execution reverted: always', revert)
}

function sendRawTransaction({ chain, head }: ChainView, raw: Hex, received: Set<string>): string {
  const signed = decoded(raw)
  const { hash: name, from, nonce, value, gasLimit } = signed
  if (name === null || from === null) throw new RpcError(-32000, 'invalid sender')
  if (signed.chainId !== 0n && signed.chainId !== BigInt(chain.chainId))
    throw new RpcError(-32000, 'invalid sender: invalid chain id for signer')
  if (received.has(name)) throw new RpcError(-32000, 'already known')
  const next = chain.state.nonce(from, head)
  if (nonce < next && chain.find(name) === null)
    throw new RpcError(-32000, `nonce too low: next nonce ${next}, tx nonce ${nonce}`)
  const cost = value + gasLimit * (signed.maxFeePerGas ?? signed.gasPrice ?? 0n)
  if (cost > chain.state.balance(from, head))
    throw new RpcError(-32000, 'insufficient funds for gas * price + value')
  received.add(name)
  chain.submit(name, signed)
  return name
}

function decoded(raw: Hex): SignedTransaction {
  try {
    return SignedTransaction.from(raw)
  } catch (cause) {
    throw Object.assign(new RpcError(-32000, 'typed transaction too short'), { cause })
  }
}
