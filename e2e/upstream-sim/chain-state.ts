// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Interface, type Transaction as SignedTransaction } from 'ethers'
import { digest, type Hex, toData } from './hex.ts'

const ether = 10n ** 18n
const token = new Interface([
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
])

/**
 * State at each height: a function of seed, address and height, plus the transfers of clients.
 * Balances do not add up the generated transfers.
 */
export class ChainState {
  readonly #seed: string
  readonly #population: Population
  readonly #sentUpTo: (height: number) => readonly SignedTransaction[]

  /** @param sentUpTo client transactions in blocks up to a height */
  constructor(
    seed: string,
    population: Population,
    sentUpTo: (height: number) => readonly SignedTransaction[],
  ) {
    this.#seed = seed
    this.#population = population
    this.#sentUpTo = sentUpTo
  }

  /** Balance in wei: 1 to 1,000 ether, growing slightly with every block. */
  balance(address: string, height: number): bigint {
    const dice = digest(this.#seed, 'balance', address.toLowerCase())
    const base = ether * BigInt(1 + (dice.readUInt16BE(0) % 1000)) + BigInt(dice.readUInt32BE(2))
    const growth = BigInt(height) * BigInt(1 + dice.readUInt16BE(6))
    let moved = 0n
    for (const { from, to, value } of this.#sentUpTo(height)) {
      if (isSame(from, address)) moved -= value
      if (isSame(to, address)) moved += value
    }
    return base + growth + moved
  }

  nonce(address: string, height: number): number {
    const sent = this.#sentUpTo(height).filter(({ from }) => isSame(from, address))
    return this.#population.sentBy(address.toLowerCase(), height) + sent.length
  }

  code(address: string): Hex {
    const known = address.toLowerCase() as Hex
    const { contracts, revertingContract } = this.#population
    if (!contracts.includes(known) && known !== revertingContract) return '0x'
    return `0x6080604052${toData(digest(this.#seed, 'code', known)).slice(2)}`
  }

  /** The result of a contract call: a token view if it is one, otherwise a digest. */
  call(to: string, data: string, height: number): Hex {
    if (this.code(to) === '0x') return '0x'
    const request = data.length < 10 ? null : token.parseTransaction({ data })
    if (request === null)
      return toData(digest(this.#seed, 'call', to.toLowerCase(), data.toLowerCase(), height))
    const views: Readonly<Record<string, unknown>> = { symbol: 'SIM', decimals: 18 }
    const result = views[request.name] ?? this.balance(String(request.args[0]), height)
    return token.encodeFunctionResult(request.name, [result]) as Hex
  }
}

function isSame(address: string | null, other: string): boolean {
  return address?.toLowerCase() === other.toLowerCase()
}

const accountCount = 32
const contractCount = 8
const periodBlocks = 16
const maxTransactionsPerBlock = 8

/**
 * The accounts of the chain and the number of generated transactions per block. Counts repeat every
 * 16 blocks and accounts send in turn, so that a nonce at any height is a sum instead of a replay.
 */
export class Population {
  readonly accounts: readonly Hex[]
  readonly contracts: readonly Hex[]
  /** A contract whose calls and gas estimates revert with the reason `always`. */
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

  /** Number of generated transactions in a block. Genesis has none. */
  transactionsIn(height: number): number {
    return height === 0 ? 0 : this.#counts[height % periodBlocks]!
  }

  /** Number of generated transactions in all blocks below `height`. */
  transactionsBefore(height: number): number {
    if (height === 0) return 0
    const whole = Math.floor(height / periodBlocks)
    const rest = this.#counts.slice(0, height % periodBlocks).reduce((sum, count) => sum + count, 0)
    return whole * this.#perPeriod + rest - this.#counts[0]!
  }

  /** Sender and nonce of a generated transaction by its ordinal in the chain. */
  senderOf(ordinal: number): { readonly from: Hex; readonly nonce: number } {
    return {
      from: this.accounts[ordinal % accountCount]!,
      nonce: Math.floor(ordinal / accountCount),
    }
  }

  /** Number of generated transactions that the address sent, up to and including `height`. */
  sentBy(address: string, height: number): number {
    const at = this.accounts.indexOf(address as Hex)
    if (at < 0) return 0
    return Math.ceil(Math.max(0, this.transactionsBefore(height + 1) - at) / accountCount)
  }
}

function addresses(seed: string, kind: string, count: number): Hex[] {
  return Array.from({ length: count }, (_, at) => toData(digest(seed, kind, at).subarray(0, 20)))
}
