// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../../rpc-error.ts'
import type { RpcParams } from '../rpc-node.ts'
import {
  addressAt,
  inContext,
  invalidParams,
  settingsAt,
  slotAt,
  type SlotMethod,
  type SlotView,
} from './params.ts'
import { fromBase58 } from './base58.ts'
import { readTransaction, type SlotTransaction } from './transaction.ts'
import { metaOf, written } from './written.ts'

const hashLifeSlots = 150

/** Transactions: what became of them, and the sending of one. */
export const transactionMethods: Readonly<Record<string, SlotMethod>> = {
  getLatestBlockhash: (view, params) => {
    const slot = slotAt(view, params, 0)
    const lastValidBlockHeight = view.chain.heightAt(slot) + hashLifeSlots
    return inContext(slot, { blockhash: view.chain.blockhash(slot), lastValidBlockHeight })
  },
  getTransaction,
  getSignatureStatuses: (view, params) =>
    inContext(
      view.head,
      (params[0] as string[]).map((signature) => statusOf(view, signature)),
    ),
  getSignaturesForAddress: (view, params) => {
    const address = addressAt(params, 0)
    const found = view.chain
      .sentUpTo(slotAt(view, params, 1))
      .filter(({ message }) => message.accountKeys.includes(address))
    return found.toReversed().map(({ signature }) => {
      const slot = view.chain.find(signature, view.head)?.slot ?? view.head
      const blockTime = Math.floor(view.chain.wallMsOf(slot) / 1000)
      return { signature, slot, err: null, memo: null, blockTime, confirmationStatus: 'finalized' }
    })
  },
  sendTransaction,
}

function getTransaction(view: SlotView, params: RpcParams): unknown {
  const found = view.chain.find(String(params[0]), view.head)
  const slot = found?.slot ?? null
  if (!found || slot === null || slot > slotAt(view, params, 1)) return null
  const { transaction } = found
  const another = view.answered(slot) !== slot
  const shown = another
    ? (view.chain.block(view.answered(slot))?.transactions[0] ?? transaction)
    : transaction
  return {
    slot: view.answered(slot),
    blockTime: Math.floor(view.chain.wallMsOf(slot) / 1000),
    meta: metaOf(view, shown, slot),
    ...written(shown, settingsAt(params, 1)),
  }
}

function statusOf(view: SlotView, signature: string): unknown {
  const slot = view.chain.find(signature, view.head)?.slot ?? null
  if (slot === null || slot > view.head) return null
  const isFinal = view.head - slot >= 32
  return {
    slot,
    confirmations: isFinal ? null : view.head - slot,
    err: null,
    status: { Ok: null },
    confirmationStatus: isFinal ? 'finalized' : view.head > slot ? 'confirmed' : 'processed',
  }
}

function sendTransaction(view: SlotView, params: RpcParams): string {
  const transaction = read(params)
  const { recentBlockhash } = transaction.message
  const isKnown = view.chain.sent(transaction.signature) !== null
  const slot = view.chain.find(transaction.signature, view.head)?.slot ?? Infinity
  if (slot <= view.head)
    throw refused('This transaction has already been processed', 'AlreadyProcessed')
  if (!isKnown && view.chain.slotOf(recentBlockhash, view.head) === null)
    throw refused('Blockhash not found', 'BlockhashNotFound')
  view.chain.submit(transaction.signature, transaction)
  return transaction.signature
}

function refused(why: string, err: string): RpcError {
  const data = { err, logs: [], accounts: null, unitsConsumed: 0 }
  return new RpcError(-32002, `Transaction simulation failed: ${why}`, data)
}

function read(params: RpcParams): SlotTransaction {
  const [text] = params
  const { encoding = 'base58' } = settingsAt(params, 1)
  try {
    if (typeof text !== 'string') throw new TypeError('no text')
    return readTransaction(encoding === 'base64' ? Buffer.from(text, 'base64') : fromBase58(text))
  } catch (cause) {
    const message = 'failed to deserialize solana_transaction::versioned::VersionedTransaction'
    throw Object.assign(invalidParams(message), { cause })
  }
}
