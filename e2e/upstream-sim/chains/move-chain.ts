// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash as digestOf } from 'node:crypto'
import { Deserializer, SignedTransaction } from '@aptos-labs/ts-sdk'
import { type ChainOptions, GrowingChain } from '../growing-chain.ts'
import { digest } from '../hex.ts'

/** Ledger versions per block: block metadata, user transactions, and a checkpoint. */
export const versionsPerBlock = 10
const gasUsed = 7
const gasUnitPrice = 100

export type MoveTransaction = ReturnType<typeof readTransaction>

/** Reads a signed transaction from BCS. @throws on invalid bytes */
export function readTransaction(bytes: Buffer) {
  const { raw_txn: raw } = SignedTransaction.deserialize(new Deserializer(bytes))
  const prefix = digestOf('sha3-256', 'APTOS::Transaction', 'buffer')
  // Variant 0 of the BCS enum is a user transaction.
  const whole = Buffer.concat([prefix, Buffer.from([0]), bytes])
  return {
    hash: `0x${digestOf('sha3-256', whole, 'hex')}`,
    sender: String(raw.sender),
    sequenceNumber: Number(raw.sequence_number),
    maxGasAmount: String(raw.max_gas_amount),
    gasUnitPrice: String(raw.gas_unit_price),
    expirationSeconds: String(raw.expiration_timestamp_secs),
    chainId: raw.chain_id.chainId,
  }
}

/** A ledger of versions in blocks, all of them final. */
export class MoveChain extends GrowingChain<MoveTransaction> {
  readonly chainId = 1

  constructor(options: ChainOptions = {}) {
    super(options, { blockTimeMs: 200, head: 400_000_000 })
  }

  lastVersion(height: number): number {
    return (height + 1) * versionsPerBlock - 1
  }

  /** 32 deterministic bytes for a block or a version, in hex. */
  word(name: string, of: number): string {
    return `0x${digest(this.seed, name, of).toString('hex')}`
  }

  /** The client transaction at a version; null for a generated entry. */
  sentAt(version: number): MoveTransaction | null {
    const place = version % versionsPerBlock
    if (place === 0 || place === versionsPerBlock - 1) return null
    return this.sentIn(Math.floor(version / versionsPerBlock))[place - 1] ?? null
  }

  hashAt(version: number): string {
    return this.sentAt(version)?.hash ?? this.word('transaction', version)
  }

  /** Finds a version by its hash, among client transactions and the newest blocks. */
  find(hash: string, head: number): number | null {
    const height = this.sent(hash)?.height
    const heights = height ? [height] : Array.from({ length: 50 }, (_, back) => head - back)
    for (const each of heights)
      for (let version = each * versionsPerBlock; version <= this.lastVersion(each); version++)
        if (this.hashAt(version) === hash) return version
    return null
  }

  /** Number of transactions that the account sent, up to a height. */
  sequenceNumber(address: string, height: number): number {
    return this.sentUpTo(height).filter(({ sender }) => sender === address).length
  }

  /** Balance in octas: the initial amount, the same for all accounts, less the gas spent. */
  balance(address: string, height: number): number {
    return 1_000_000_000 - this.sequenceNumber(address, height) * gasUsed * gasUnitPrice
  }
}

/** A ledger entry in the node's JSON. */
export function entryJson(chain: MoveChain, version: number) {
  const height = Math.floor(version / versionsPerBlock)
  const place = version % versionsPerBlock
  const isUsers = place > 0 && place < versionsPerBlock - 1
  const common = {
    version: String(version),
    hash: chain.hashAt(version),
    state_change_hash: chain.word('state-change', version),
    event_root_hash: chain.word('events', version),
    state_checkpoint_hash: null,
    gas_used: isUsers ? String(gasUsed) : '0',
    success: true,
    vm_status: 'Executed successfully',
    accumulator_root_hash: chain.word('root', version),
    changes: [],
    events: [],
    timestamp: String(chain.wallMsOf(height) * 1000),
  }
  if (place === versionsPerBlock - 1) return { type: 'state_checkpoint_transaction', ...common }
  if (place > 0)
    return { type: 'user_transaction', ...common, ...userFields(sentOrOwn(chain, version)) }
  const id = chain.word('block', height)
  return { type: 'block_metadata_transaction', ...common, id, epoch: '9000', round: String(height) }
}

/** A pending transaction in the node's JSON. */
export function pendingJson(sent: MoveTransaction) {
  return { type: 'pending_transaction', hash: sent.hash, ...userFields(sent) }
}

function userFields(sent: Omit<MoveTransaction, 'hash' | 'chainId'>) {
  return {
    sender: sent.sender,
    sequence_number: String(sent.sequenceNumber),
    max_gas_amount: sent.maxGasAmount,
    gas_unit_price: sent.gasUnitPrice,
    expiration_timestamp_secs: sent.expirationSeconds,
    payload: {
      type: 'entry_function_payload',
      function: '0x1::aptos_account::transfer',
      type_arguments: [],
      arguments: [],
    },
    signature: null,
  }
}

function sentOrOwn(chain: MoveChain, version: number): Omit<MoveTransaction, 'hash' | 'chainId'> {
  return (
    chain.sentAt(version) ?? {
      sender: chain.word('sender', version),
      sequenceNumber: version % 1_000,
      maxGasAmount: '2000',
      gasUnitPrice: String(gasUnitPrice),
      expirationSeconds: '4102444800',
    }
  )
}
