// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from '../../hex.ts'
import { GrowingChain, type GrowingChainOptions } from '../growing-chain.ts'
import type { MoveTransaction } from './transaction.ts'

/** Every block has so many ledger versions: its head, the users' transactions, and a checkpoint. */
export const versionsPerBlock = 10

/** One entry of the ledger. */
export interface LedgerEntry {
  readonly version: number
  readonly hash: string
  readonly height: number
  readonly kind: 'block_metadata_transaction' | 'user_transaction' | 'state_checkpoint_transaction'
  /** What a client sent; null for the chain's own. */
  readonly sent: MoveTransaction | null
}

export interface MoveChainOptions extends GrowingChainOptions {
  /** Default 1. */
  readonly chainId?: number
}

/** A ledger of versions in blocks. What is in it is final. */
export class MoveChain extends GrowingChain<MoveTransaction> {
  readonly chainId: number

  constructor(options: MoveChainOptions = {}) {
    super(options, { blockTimeMs: 200, head: 400_000_000 })
    this.chainId = options.chainId ?? 1
  }

  lastVersion(height: number): number {
    return (height + 1) * versionsPerBlock - 1
  }

  blockHash(height: number): string {
    return `0x${digest(this.seed, 'block', height).toString('hex')}`
  }

  /** The entry at a version, which must not be behind the head's. */
  entry(version: number): LedgerEntry {
    const height = Math.floor(version / versionsPerBlock)
    const place = version % versionsPerBlock
    const sent = this.sentIn(height)[place - 1] ?? null
    const isUser = place > 0 && place < versionsPerBlock - 1
    const last = place === 0 ? 'block_metadata_transaction' : 'state_checkpoint_transaction'
    const kind = isUser ? 'user_transaction' : last
    const own = `0x${digest(this.seed, 'transaction', version).toString('hex')}`
    return {
      version,
      height,
      kind,
      hash: sent && isUser ? sent.hash : own,
      sent: isUser ? sent : null,
    }
  }

  /** The entry that has this hash, among those of clients and of the newest blocks. */
  find(hash: string, head: number): LedgerEntry | null {
    const height = this.sent(hash)?.height
    const heights = height ? [height] : Array.from({ length: 50 }, (_, back) => head - back)
    for (const each of heights)
      for (let place = 0; place < versionsPerBlock; place++) {
        const entry = this.entry(each * versionsPerBlock + place)
        if (entry.hash === hash) return entry
      }
    return null
  }

  /** How many transactions the account has sent, up to a height. */
  sequenceNumber(address: string, height: number): number {
    const first = digest(this.seed, 'sequence', address).readUInt16BE(0)
    return first + this.sentUpTo(height).filter(({ sender }) => sender === address).length
  }

  /** Octas of an account: given to everybody at the start, less the gas of what it sent. */
  balance(address: string, height: number): number {
    const spent = this.sentUpTo(height).filter(({ sender }) => sender === address)
    return 1_000_000_000 - spent.length * gasUsed * gasUnitPrice
  }
}

export const gasUsed = 7
export const gasUnitPrice = 100
