// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getBase58Encoder } from '@solana/kit'
import type { FaultSwitch } from '../faults.ts'
import { invalidParams, RpcError } from '../json-rpc.ts'
import { type NodeView, type ViewSettings, viewOf } from '../node-view.ts'
import { type Method, RpcNode, type RpcParams } from '../rpc-node.ts'
import { accountJson, finalizedBehind, type SlotBlock, type SlotChain } from './slot-chain.ts'
import { slotFeed } from './slot-feed.ts'
import { readTransaction, type SlotTransaction } from './slot-transaction.ts'

type SlotView = NodeView<SlotChain>

/** A node of the slot chain: JSON-RPC 2.0 with HTTP 200 for errors, and subscriptions. */
export function slotNode(
  chain: SlotChain,
  faults: FaultSwitch,
  settings?: Partial<ViewSettings>,
): RpcNode<SlotView> {
  return new RpcNode(viewOf(chain, settings), { methods }, faults, slotFeed(chain))
}

const slotsPerEpoch = 432_000
const hashLifeSlots = 150

const methods: Readonly<Record<string, Method<SlotView>>> = {
  // The node and its cluster
  getGenesisHash: ({ chain }) => chain.genesisHash,
  getHealth: () => 'ok',
  getVersion: () => ({ 'feature-set': 3_271_415_109, 'solana-core': '3.0.0' }),

  // Slots and blocks
  getSlot: (view, params) => slotAt(view, params, 0),
  getBlockHeight: (view, params) => view.chain.heightAt(slotAt(view, params, 0)),
  getBlock,
  getBlockTime: (view, [slot]) => blockAt(view, slot).blockTime,
  getBlocks: ({ chain }, [first, last]) => {
    const count = Number(last) - Number(first) + 1
    const slots = Array.from({ length: count }, (_, at) => Number(first) + at)
    return slots.filter((slot) => !chain.isSkipped(slot))
  },
  getEpochInfo: (view, params) => {
    const absoluteSlot = slotAt(view, params, 0)
    return {
      absoluteSlot,
      blockHeight: view.chain.heightAt(absoluteSlot),
      epoch: Math.floor(absoluteSlot / slotsPerEpoch),
      slotIndex: absoluteSlot % slotsPerEpoch,
      slotsInEpoch: slotsPerEpoch,
      transactionCount: 2 * absoluteSlot,
    }
  },

  // Accounts
  getBalance: (view, params) => {
    const slot = slotAt(view, params, 1)
    return inContext(slot, view.chain.balance(addressOf(params[0]), slot))
  },
  getMultipleAccounts: (view, params) => {
    const slot = slotAt(view, params, 1)
    const addresses = (params[0] as readonly unknown[]).map(addressOf)
    const accounts = addresses.map((address) => accountJson(view.chain, address, slot))
    return inContext(slot, accounts)
  },

  // Transactions
  getLatestBlockhash: (view, params) => {
    const slot = slotAt(view, params, 0)
    const lastValidBlockHeight = view.chain.heightAt(slot) + hashLifeSlots
    return inContext(slot, { blockhash: view.chain.blockhash(slot), lastValidBlockHeight })
  },
  getTransaction: (view, params) => {
    const { transaction, slot } = view.chain.find(String(params[0]), view.head) ?? {}
    if (!transaction || !slot || slot > slotAt(view, params, 1)) return null
    const blockTime = Math.floor(view.chain.wallMsOf(slot) / 1000)
    const meta = metaOf(view, transaction, slot)
    return { slot, blockTime, meta, ...written(transaction, settingsAt(params, 1)) }
  },
  getSignatureStatuses: (view, [signatures]) =>
    inContext(
      view.head,
      (signatures as readonly string[]).map((signature) => statusOf(view, signature)),
    ),
  sendTransaction,
}

/** The slot that a request's commitment refers to on this node. */
function slotAt({ chain, head }: SlotView, params: RpcParams, at: number): number {
  const { commitment = 'finalized', minContextSlot = 0 } = settingsAt(params, at)
  const behind = { processed: 0, confirmed: 1, finalized: finalizedBehind }
  if (!Object.hasOwn(behind, String(commitment)))
    throw invalidParams(`unknown variant \`${String(commitment)}\`.`)
  const contextSlot = chain.filled(head - behind[commitment as keyof typeof behind])
  if (contextSlot >= Number(minContextSlot)) return contextSlot
  throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot })
}

/** The settings object at a position of the params; empty without one. */
function settingsAt(params: RpcParams, at: number): Readonly<Record<string, unknown>> {
  return (params[at] ?? {}) as Readonly<Record<string, unknown>>
}

/** Wraps a value with its slot, as nodes do. */
function inContext(slot: number, value: unknown) {
  return { context: { apiVersion: '3.0.0', slot }, value }
}

function addressOf(value: unknown): string {
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(String(value))) return String(value)
  throw invalidParams('Invalid param: Invalid')
}

function blockAt({ chain, head }: SlotView, slot: unknown): SlotBlock {
  if (Number(slot) > head)
    throw new RpcError(-32004, `Block not available for slot ${String(slot)}`)
  const block = chain.block(Number(slot))
  if (block) return block
  const why = 'was skipped, or missing due to ledger jump to recent snapshot'
  throw new RpcError(-32007, `Slot ${String(slot)} ${why}`)
}

function getBlock(view: SlotView, params: RpcParams): unknown {
  const settings = settingsAt(params, 1)
  const { transactionDetails = 'full', rewards = true } = settings
  const { slot, transactions, ...block } = blockAt(view, params[0])
  const signatures = transactions.map(({ signature }) => signature)
  const whole = transactions.map((transaction) => ({
    ...written(transaction, settings),
    meta: metaOf(view, transaction, slot),
  }))
  return {
    ...block,
    ...(transactionDetails === 'signatures' ? { signatures } : {}),
    ...(transactionDetails === 'full' ? { transactions: whole } : {}),
    ...(rewards === false ? {} : { rewards: [] }),
  }
}

function written(
  { message, signatures, version, wire }: SlotTransaction,
  { encoding = 'json', maxSupportedTransactionVersion }: Readonly<Record<string, unknown>>,
) {
  const versioned = maxSupportedTransactionVersion === undefined ? {} : { version }
  if (encoding === 'base64' && wire !== null)
    return { transaction: [wire.toString('base64'), 'base64'], ...versioned }
  return { transaction: { message, signatures }, ...versioned }
}

/** The metadata of a transaction, which pays only its fee. */
function metaOf({ chain }: SlotView, { message }: SlotTransaction, slot: number) {
  const fee = 5_000
  const after = message.accountKeys.map((key) => chain.balance(key, slot))
  return {
    err: null,
    status: { Ok: null },
    fee,
    preBalances: after.map((lamports, at) => (at === 0 ? lamports + fee : lamports)),
    postBalances: after,
    preTokenBalances: [],
    postTokenBalances: [],
    innerInstructions: [],
    logMessages: ['Program 11111111111111111111111111111111 success'],
    loadedAddresses: { readonly: [], writable: [] },
    rewards: [],
    computeUnitsConsumed: 150,
  }
}

function statusOf({ chain, head }: SlotView, signature: string): unknown {
  const slot = chain.find(signature, head)?.slot ?? null
  if (slot === null || slot > head) return null
  const isFinal = head - slot >= finalizedBehind
  return {
    slot,
    confirmations: isFinal ? null : head - slot,
    err: null,
    status: { Ok: null },
    confirmationStatus: isFinal ? 'finalized' : head > slot ? 'confirmed' : 'processed',
  }
}

function sendTransaction({ chain, head }: SlotView, [text, settings]: RpcParams): string {
  const { encoding } = (settings ?? {}) as { readonly encoding?: string }
  const wire =
    encoding === 'base64'
      ? Buffer.from(String(text), 'base64')
      : Buffer.from(getBase58Encoder().encode(String(text)))
  const transaction = readTransaction(wire)
  const { signature, message } = transaction
  const isKnown = chain.sent(signature) !== null
  if ((chain.find(signature, head)?.slot ?? Infinity) <= head)
    throw refused('This transaction has already been processed', 'AlreadyProcessed')
  if (!isKnown && chain.slotOf(message.recentBlockhash, head) === null)
    throw refused('Blockhash not found', 'BlockhashNotFound')
  chain.submit(signature, transaction)
  return signature
}

function refused(why: string, err: string): RpcError {
  const data = { err, logs: [], accounts: null, unitsConsumed: 0 }
  return new RpcError(-32002, `Transaction simulation failed: ${why}`, data)
}
