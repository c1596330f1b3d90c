// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Transaction as SignedTransaction } from 'ethers'
import { digest, type Hex, toData, toWord } from './hex.ts'
import type { Population } from './population.ts'

const ether = 10n ** 18n

/** A transaction of a client, once it is in a block. */
export interface Included {
  readonly height: number
  readonly signed: SignedTransaction
}

/**
 * The state at each height: a function of the seed, the address and the height, plus what the
 * transactions of clients moved. Balances are not the sum of the population's own transfers.
 */
export class ChainState {
  readonly #seed: string
  readonly #population: Population
  readonly #included: () => Iterable<Included>

  constructor(seed: string, population: Population, included: () => Iterable<Included>) {
    this.#seed = seed
    this.#population = population
    this.#included = included
  }

  /** In wei: 1 to 1,000 ether that grow by a little every block. */
  balance(address: string, height: number): bigint {
    const dice = digest(this.#seed, 'balance', address.toLowerCase())
    const base = ether * BigInt(1 + (dice.readUInt16BE(0) % 1000)) + BigInt(dice.readUInt32BE(2))
    const growth = BigInt(height) * BigInt(1 + dice.readUInt16BE(6))
    let moved = 0n
    for (const { signed } of this.#until(height)) {
      if (isSame(signed.from, address)) moved -= signed.value
      if (isSame(signed.to, address)) moved += signed.value
    }
    return base + growth + moved
  }

  nonce(address: string, height: number): number {
    let sent = this.#population.sentBy(address.toLowerCase(), height)
    for (const { signed } of this.#until(height)) if (isSame(signed.from, address)) sent++
    return sent
  }

  code(address: string): Hex {
    const known = address.toLowerCase() as Hex
    const isContract =
      this.#population.contracts.includes(known) || known === this.#population.revertingContract
    return isContract ? `0x6080604052${toData(digest(this.#seed, 'code', known)).slice(2)}` : '0x'
  }

  /** Changes every 100 blocks, and is zero at addresses without code. */
  storage(address: string, slot: string, height: number): Hex {
    if (this.code(address) === '0x') return `0x${toWord(0)}`
    const era = Math.floor(height / 100)
    return toData(
      digest(this.#seed, 'storage', address.toLowerCase(), BigInt(slot).toString(), era),
    )
  }

  /** What a contract returns: the usual token views in their own words, else a digest. */
  call(to: string, data: string, height: number): Hex {
    if (this.code(to) === '0x') return '0x'
    const selector = data.slice(2, 10).toLowerCase()
    if (selector === '313ce567') return `0x${toWord(18)}`
    if (selector === '95d89b41') return abiString('SIM')
    if (selector === '06fdde03') return abiString('Simulated Token')
    if (selector === '18160ddd') return `0x${toWord(1_000_000_000n * ether)}`
    if (selector === '70a08231')
      return `0x${toWord(this.balance(`0x${data.slice(34, 74)}`, height))}`
    return toData(digest(this.#seed, 'call', to.toLowerCase(), data.toLowerCase(), height))
  }

  *#until(height: number): Iterable<Included> {
    for (const included of this.#included()) if (included.height <= height) yield included
  }
}

/** A revert reason as contracts return it: `Error(string)`. */
export function revertData(reason: string): Hex {
  return `0x08c379a0${abiString(reason).slice(2)}`
}

function abiString(text: string): Hex {
  const bytes = Buffer.from(text)
  const padded = Buffer.alloc(Math.ceil(bytes.length / 32) * 32)
  bytes.copy(padded)
  return `0x${toWord(32)}${toWord(bytes.length)}${padded.toString('hex')}`
}

function isSame(address: string | null, other: string): boolean {
  return address?.toLowerCase() === other.toLowerCase()
}
