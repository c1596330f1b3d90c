// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChainOptions, GrowingChain } from '../growing-chain.ts'
import { digest } from '../hex.ts'
import { type SlotTransaction, toBase58 } from './slot-transaction.ts'

/** Genesis hash of the cluster that the bundled spec SLOTCHAIN describes. */
const mainnetGenesis = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const systemProgram = '11111111111111111111111111111111'
/** One slot in this many has no block. */
const skipEvery = 20
const skippedRest = 7
const lamportsPerSignature = 5_000
/** Number of slots behind the head at which a slot is final. */
export const finalizedBehind = 32

export interface SlotBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly blockHeight: number
  readonly blockhash: string
  readonly previousBlockhash: string
  readonly blockTime: number
  readonly transactions: readonly SlotTransaction[]
}

/** A chain that counts in slots and skips one in twenty. Its head is a slot. */
export class SlotChain extends GrowingChain<SlotTransaction> {
  readonly genesisHash = mainnetGenesis

  constructor(options: ChainOptions = {}) {
    super(options, { blockTimeMs: 400, head: 300_000_000 })
  }

  isSkipped(slot: number): boolean {
    return slot % skipEvery === skippedRest
  }

  /** The newest slot with a block, up to this slot. */
  filled(slot: number): number {
    return this.isSkipped(slot) ? slot - 1 : slot
  }

  /** The number of blocks up to this slot. */
  heightAt(slot: number): number {
    return slot - Math.floor((slot + skipEvery - skippedRest) / skipEvery)
  }

  block(slot: number): SlotBlock | null {
    if (this.isSkipped(slot)) return null
    const parentSlot = Math.max(0, this.filled(slot - 1))
    return {
      slot,
      parentSlot,
      blockHeight: this.heightAt(slot),
      blockhash: this.blockhash(slot),
      previousBlockhash: this.blockhash(parentSlot),
      blockTime: Math.floor(this.wallMsOf(slot) / 1000),
      transactions: [...this.#own(slot), ...this.#sentFor(slot)],
    }
  }

  blockhash(slot: number): string {
    return toBase58(digest(this.seed, 'slot', this.branchAt(slot), slot))
  }

  /** The slot of a recent blockhash; null for an unknown or old one. */
  slotOf(blockhash: string, head: number): number | null {
    for (let slot = head; slot > head - 160 && slot >= 0; slot--)
      if (this.blockhash(slot) === blockhash) return slot
    return null
  }

  /** Finds a transaction and its slot, which is null while the transaction is pending. */
  find(signature: string, head: number) {
    const placed = this.sent(signature)
    if (placed)
      return { transaction: placed.sent, slot: placed.height && this.#filledFrom(placed.height) }
    for (let slot = head; slot > head - 100 && slot >= 0; slot--) {
      const transaction = this.block(slot)?.transactions.find((one) => one.signature === signature)
      if (transaction) return { transaction, slot }
    }
    return null
  }

  /** Balance in lamports: the initial amount, the same for all accounts, less the lamports sent. */
  balance(address: string, slot: number): number {
    if (address === systemProgram) return 1
    const given =
      10_000_000_000 + (digest(this.seed, 'lamports', address).readUInt32BE(0) % 1_000_000)
    const spent = this.sentUpTo(slot).filter((one) => one.message.accountKeys[0] === address)
    return given - spent.length * lamportsPerSignature
  }

  #filledFrom(slot: number): number {
    return this.isSkipped(slot) ? slot + 1 : slot
  }

  /** Client transactions of a slot. Those of a skipped slot go into the next slot. */
  #sentFor(slot: number): readonly SlotTransaction[] {
    const left = this.isSkipped(slot - 1) ? this.sentIn(slot - 1) : []
    return [...left, ...this.sentIn(slot)]
  }

  /** Two generated transfers per block. */
  #own(slot: number): SlotTransaction[] {
    return [0, 1].map((index) => {
      const key = (word: string) => toBase58(digest(this.seed, word, slot, index))
      const half = (word: string) => digest(this.seed, word, this.branchAt(slot), slot, index)
      const signature = toBase58(Buffer.concat([half('r'), half('s')]))
      return {
        signature,
        signatures: [signature],
        message: {
          accountKeys: [key('from'), key('to'), systemProgram],
          header: {
            numRequiredSignatures: 1,
            numReadonlySignedAccounts: 0,
            numReadonlyUnsignedAccounts: 1,
          },
          recentBlockhash: this.blockhash(Math.max(0, this.filled(slot - 1))),
          instructions: [
            { programIdIndex: 2, accounts: [0, 1], data: '3Bxs4h24hBtQy9rw', stackHeight: null },
          ],
        },
        version: 'legacy',
        wire: null,
      }
    })
  }
}

/** An account in the node's JSON. */
export function accountJson(chain: SlotChain, address: string, slot: number) {
  const isProgram = address === systemProgram
  return {
    lamports: chain.balance(address, slot),
    owner: isProgram ? 'NativeLoader1111111111111111111111111111111' : systemProgram,
    data: ['', 'base64'],
    executable: isProgram,
    rentEpoch: 2 ** 53 - 1,
    space: 0,
  }
}
