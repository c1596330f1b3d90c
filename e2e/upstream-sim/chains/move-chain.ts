// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash as digestOf } from 'node:crypto'
import { Deserializer, SignedTransaction } from '@aptos-labs/ts-sdk'
import { type ChainOptions, GrowingChain } from '../growing-chain.ts'
import { digest } from '../hex.ts'

/** Ledger versions of every block: its head, the users' transactions, and a checkpoint. */
export const versionsPerBlock = 10
const gasUsed = 7
const gasUnitPrice = 100

/** A signed transaction that a client sent. */
export type MoveTransaction = ReturnType<typeof readTransaction>

/** Reads a signed transaction from BCS. @throws when the bytes are none */
export function readTransaction(bytes: Buffer) {
  const { raw_txn: raw } = SignedTransaction.deserialize(new Deserializer(bytes))
  const prefix = digestOf('sha3-256', 'APTOS::Transaction', 'buffer')
  // A user's transaction is the first kind of transaction.
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

/** A ledger of versions in blocks. All of it is final. */
export class MoveChain extends GrowingChain<MoveTransaction> {
  readonly chainId = 1

  constructor(options: ChainOptions = {}) {
    super(options, { blockTimeMs: 200, head: 400_000_000 })
  }

  lastVersion(height: number): number {
    return (height + 1) * versionsPerBlock - 1
  }

  /** 32 bytes of a block or of a version, in hex. */
  word(name: string, of: number): string {
    return `0x${digest(this.seed, name, of).toString('hex')}`
  }

  /** The client's transaction at a version; null for the chain's own. */
  sentAt(version: number): MoveTransaction | null {
    const place = version % versionsPerBlock
    if (place === 0 || place === versionsPerBlock - 1) return null
    return this.sentIn(Math.floor(version / versionsPerBlock))[place - 1] ?? null
  }

  hashAt(version: number): string {
    return this.sentAt(version)?.hash ?? this.word('transaction', version)
  }

  /** The version that has this hash, among those of clients and of the newest blocks. */
  find(hash: string, head: number): number | null {
    const height = this.sent(hash)?.height
    const heights = height ? [height] : Array.from({ length: 50 }, (_, back) => head - back)
    for (const each of heights)
      for (let version = each * versionsPerBlock; version <= this.lastVersion(each); version++)
        if (this.hashAt(version) === hash) return version
    return null
  }

  /** How many transactions the account has sent, up to a height. */
  sequenceNumber(address: string, height: number): number {
    return this.sentUpTo(height).filter(({ sender }) => sender === address).length
  }

  /** Octas of an account: the same for all at the start, less the gas of its transactions. */
  balance(address: string, height: number): number {
    return 1_000_000_000 - this.sequenceNumber(address, height) * gasUsed * gasUnitPrice
  }
}

/** An entry of the ledger as the node shows it. */
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

/** A transaction that waits for its block. */
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
