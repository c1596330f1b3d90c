// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from '../../hex.ts'
import { GrowingChain, type GrowingChainOptions } from '../growing-chain.ts'
import type { HubTransaction } from './transaction.ts'

export const denom = 'uatom'
const givenAmount = 1_000_000_000_000n

export interface HubChainOptions extends GrowingChainOptions {
  /** Default `cosmoshub-4`. */
  readonly network?: string
}

/** A chain of the SDK family. A block that is there is final. */
export class HubChain extends GrowingChain<HubTransaction> {
  readonly network: string

  constructor(options: HubChainOptions = {}) {
    super(options, { blockTimeMs: 6_000, head: 28_000_000 })
    this.network = options.network ?? 'cosmoshub-4'
  }

  /** Bytes that belong to a block: its hash, its app hash and so on. */
  bytes(word: string, height: number): Buffer {
    return digest(this.seed, word, height)
  }

  isoTimeOf(height: number): string {
    return new Date(this.wallMsOf(height)).toISOString()
  }

  /** What the account has at a height: given to everybody at the start, and what was sent since. */
  balance(address: string, of: string, height: number): bigint {
    if (of !== denom) return 0n
    const transfers = this.sentUpTo(height).flatMap((one) => one.transfers)
    return transfers.reduce((sum, { from, to, amount }) => {
      if (from === address) return sum - amount
      return to === address ? sum + amount : sum
    }, givenAmount)
  }

  accountNumber(address: string): number {
    return digest(this.seed, 'account', address).readUInt16BE(0)
  }

  /** How many transactions the account has sent, up to a height. */
  sequence(address: string, height: number): number {
    return this.sentUpTo(height).filter(({ transfers }) => transfers[0]?.from === address).length
  }

  supply(height: number): bigint {
    return 400_000_000_000_000n + BigInt(height)
  }
}
