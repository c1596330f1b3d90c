// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest, type Hex, toData } from './hex.ts'

const accountCount = 32
const contractCount = 8
const periodBlocks = 16
const maxTransactionsPerBlock = 8

/**
 * Who lives on the chain, and how many transactions each block holds: the counts repeat every 16
 * blocks and the accounts send in turn, so that a nonce at any height is a sum and not a replay.
 */
export class Population {
  readonly accounts: readonly Hex[]
  readonly contracts: readonly Hex[]
  /** Any call to it, and any gas estimate, reverts with the reason `always`. */
  readonly revertingContract: Hex
  readonly #counts: readonly number[]
  readonly #perPeriod: number

  constructor(seed: string) {
    this.accounts = addresses(seed, 'account', accountCount)
    this.contracts = addresses(seed, 'contract', contractCount)
    this.revertingContract = addresses(seed, 'reverting', 1)[0]!
    this.#counts = Array.from(
      { length: periodBlocks },
      (_, at) => digest(seed, 'transactions', at)[0]! % (maxTransactionsPerBlock + 1),
    )
    this.#perPeriod = this.#counts.reduce((sum, count) => sum + count, 0)
  }

  /** How many transactions of the population's own the block holds. Genesis holds none. */
  transactionsIn(height: number): number {
    return height === 0 ? 0 : this.#counts[height % periodBlocks]!
  }

  /** How many of them all blocks below `height` hold together. */
  transactionsBefore(height: number): number {
    if (height === 0) return 0
    const whole = Math.floor(height / periodBlocks)
    const rest = this.#counts.slice(0, height % periodBlocks).reduce((sum, count) => sum + count, 0)
    return whole * this.#perPeriod + rest - this.#counts[0]!
  }

  /** Sender and nonce of the transaction with this ordinal, counted from the chain's first one. */
  senderOf(ordinal: number): { readonly from: Hex; readonly nonce: number } {
    return {
      from: this.accounts[ordinal % accountCount]!,
      nonce: Math.floor(ordinal / accountCount),
    }
  }

  /** How many transactions of the population's own the address sent up to and with `height`. */
  sentBy(address: string, height: number): number {
    const at = this.accounts.indexOf(address as Hex)
    if (at < 0) return 0
    return Math.ceil(Math.max(0, this.transactionsBefore(height + 1) - at) / accountCount)
  }
}

function addresses(seed: string, kind: string, count: number): Hex[] {
  return Array.from({ length: count }, (_, at) => toData(digest(seed, kind, at).subarray(0, 20)))
}
