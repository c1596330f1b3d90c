// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from '../../hex.ts'
import { GrowingChain, type GrowingChainOptions } from '../growing-chain.ts'
import { coinbase, hash256, readTx, shownHash, type Tx } from './transaction.ts'

/** The first blocks of Bitcoin's networks: header, and the one transaction. */
const genesis = {
  main: 'ffff001d1dac2b7c',
  regtest: 'ffff7f2002000000',
}
const genesisSeconds = { main: 1_231_006_505, regtest: 1_296_688_602 }
const genesisMerkleRoot = '3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a'
const genesisTx =
  '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104' +
  '455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365' +
  '636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967' +
  'f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c' +
  '702b6bf11d5fac00000000'

export type BitcoinNetwork = keyof typeof genesis

export interface BitcoinBlock {
  readonly height: number
  readonly hash: string
  readonly header: Buffer
  readonly transactions: readonly Tx[]
}

export interface BitcoinChainOptions extends GrowingChainOptions {
  /** Default `main`. Decides the first block. */
  readonly network?: BitcoinNetwork
}

/**
 * A chain of real headers from Bitcoin's own first block on: hashes, parents and Merkle roots are what
 * they must be. Only the work that a hash would have to show is left out.
 */
export class BitcoinChain extends GrowingChain<Tx> {
  readonly network: BitcoinNetwork
  readonly #blocks: BitcoinBlock[] = []
  readonly #forks: number[] = []
  readonly #stale = new Map<string, BitcoinBlock>()

  constructor(options: BitcoinChainOptions = {}) {
    super(options, { blockTimeMs: 600_000, head: 300 })
    this.network = options.network ?? 'main'
  }

  /** The block at this height, which must not be above the head. */
  block(height: number): BitcoinBlock {
    this.#dropReplaced(height)
    while (this.#blocks.length <= height) {
      const next = this.#blocks.length
      this.#forks[next] = this.forkAt(next)
      this.#blocks.push(next === 0 ? this.#first() : this.#build(next))
    }
    return this.#blocks[height] as BitcoinBlock
  }

  /** The block that has this hash, replaced ones too; null when there is none. */
  find(hash: string): BitcoinBlock | null {
    this.block(this.head)
    const wanted = hash.toLowerCase()
    return this.#blocks.find((one) => one.hash === wanted) ?? this.#stale.get(wanted) ?? null
  }

  /** A transaction and its block, which is null while it waits. */
  findTx(txid: string): { readonly tx: Tx; readonly block: BitcoinBlock | null } | null {
    this.block(this.head)
    for (const block of this.#blocks) {
      const tx = block.transactions.find((one) => one.txid === txid)
      if (tx) return { tx, block }
    }
    const placed = this.sent(txid)
    return placed ? { tx: placed.sent, block: null } : null
  }

  #dropReplaced(height: number): void {
    const from = this.#blocks.findIndex(
      (_, at) => at <= height && this.forkAt(at) !== this.#forks[at],
    )
    if (from < 0) return
    for (const block of this.#blocks.splice(from)) this.#stale.set(block.hash, block)
  }

  #first(): BitcoinBlock {
    const header = headerOf({
      version: 1,
      parent: Buffer.alloc(32),
      merkleRoot: Buffer.from(genesisMerkleRoot, 'hex'),
      seconds: genesisSeconds[this.network],
      bitsAndNonce: Buffer.from(genesis[this.network], 'hex'),
    })
    return blockOf(0, header, [readTx(Buffer.from(genesisTx, 'hex'))])
  }

  #build(height: number): BitcoinBlock {
    const mark = digest(this.seed, 'btc', this.forkAt(height), height)
    const payTo = Buffer.concat([Buffer.from('0014', 'hex'), mark.subarray(0, 20)])
    const transactions = [coinbase(height, mark.subarray(20, 28), payTo), ...this.sentIn(height)]
    const header = headerOf({
      version: 0x2000_0000,
      parent: hash256((this.#blocks[height - 1] as BitcoinBlock).header),
      merkleRoot: merkleRootOf(transactions),
      seconds: Math.floor(this.wallMsOf(height) / 1000),
      bitsAndNonce: Buffer.concat([Buffer.from('ffff7f20', 'hex'), mark.subarray(28, 32)]),
    })
    return blockOf(height, header, transactions)
  }
}

interface HeaderParts {
  readonly version: number
  readonly parent: Buffer
  readonly merkleRoot: Buffer
  readonly seconds: number
  readonly bitsAndNonce: Buffer
}

function headerOf({ version, parent, merkleRoot, seconds, bitsAndNonce }: HeaderParts): Buffer {
  const header = Buffer.alloc(80)
  header.writeUInt32LE(version, 0)
  parent.copy(header, 4)
  merkleRoot.copy(header, 36)
  header.writeUInt32LE(seconds, 68)
  bitsAndNonce.copy(header, 72)
  return header
}

function blockOf(height: number, header: Buffer, transactions: readonly Tx[]): BitcoinBlock {
  return { height, hash: shownHash(hash256(header)), header, transactions }
}

function merkleRootOf(transactions: readonly Tx[]): Buffer {
  let row: Buffer[] = transactions.map(({ txid }) =>
    Buffer.from(Buffer.from(txid, 'hex').toReversed()),
  )
  while (row.length > 1)
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, at) => {
      const left = row[2 * at] as Buffer
      return hash256(Buffer.concat([left, row[2 * at + 1] ?? left]))
    })
  return row[0] as Buffer
}
