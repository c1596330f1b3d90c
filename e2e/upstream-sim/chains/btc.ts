// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../faults.ts'
import { type ChainOptions, GrowingChain } from '../growing-chain.ts'
import { digest } from '../hex.ts'
import { RpcError } from '../json-rpc.ts'
import { type NodeView, type ViewSettings, viewOf } from '../node-view.ts'
import { type RpcDialect, RpcNode, type RpcParams } from '../rpc-node.ts'

const genesisHash = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'
const subsidy = 312_500_000

/** A chain of Bitcoin blocks with one transaction each, and fabricated work and scripts. */
export class BitcoinChain extends GrowingChain<never> {
  constructor(options: ChainOptions = {}) {
    super(options, { blockTimeMs: 600_000, head: 300 })
  }

  hashOf(height: number): string {
    return height === 0 ? genesisHash : this.word('block', height)
  }

  txidOf(height: number): string {
    return this.word('transaction', height)
  }

  /** The height of the block with this hash or transaction id; null when it is unknown. */
  find(word: unknown, of: 'hashOf' | 'txidOf'): number | null {
    for (let height = this.head; height >= 0; height--) if (this[of](height) === word) return height
    return null
  }

  /** 32 deterministic bytes for a block, such as its hash. */
  word(name: string, height: number): string {
    return digest(this.seed, 'btc', name, this.branchAt(height), height).toString('hex')
  }
}

type View = NodeView<BitcoinChain>

const dialect: RpcDialect<View> = {
  version: '1.0',
  methods: {
    getblockcount: ({ head }) => head,
    getbestblockhash: ({ chain, head }) => chain.hashOf(head),
    getblockhash: (view, [height]) => view.chain.hashOf(heightAt(view, height)),
    getblockheader: (view, [hash, verbose = true]) => {
      const height = heightOf(view, hash)
      return verbose === true ? headerJson(view, height) : rawHeader(view.chain, height)
    },
    getblock: getBlock,
    getblockstats: (view, [which]) => {
      const height = typeof which === 'number' ? heightAt(view, which) : heightOf(view, which)
      return { height, blockhash: view.chain.hashOf(height), txs: 1, subsidy, totalfee: 0 }
    },
    getrawtransaction: getRawTransaction,
  },
}

/** A Bitcoin node: JSON-RPC 1.0, where errors have an HTTP status. */
export function bitcoinNode(
  chain: BitcoinChain,
  faults: FaultSwitch,
  settings?: Partial<ViewSettings>,
): RpcNode<View> {
  return new RpcNode(viewOf(chain, settings), dialect, faults)
}

function heightAt({ head }: View, height: unknown): number {
  if (typeof height !== 'number') throw new RpcError(-3, 'JSON value is not an integer as expected')
  if (height < 0 || height > head) throw new RpcError(-8, 'Block height out of range')
  return height
}

function heightOf({ chain, head }: View, hash: unknown): number {
  const height = chain.find(hash, 'hashOf')
  if (height === null || height > head) throw new RpcError(-5, 'Block not found')
  return height
}

function headerJson({ chain, head }: View, height: number) {
  const time = Math.floor(chain.wallMsOf(height) / 1000)
  return {
    hash: chain.hashOf(height),
    confirmations: head - height + 1,
    height,
    version: 0x2000_0000,
    versionHex: '20000000',
    merkleroot: chain.txidOf(height),
    time,
    mediantime: time,
    nonce: height,
    bits: '1d00ffff',
    difficulty: 1,
    chainwork: (height + 1).toString(16).padStart(64, '0'),
    nTx: 1,
    ...(height > 0 ? { previousblockhash: chain.hashOf(height - 1) } : {}),
    ...(height < head ? { nextblockhash: chain.hashOf(height + 1) } : {}),
  }
}

function rawHeader(chain: BitcoinChain, height: number): string {
  return `00000020${chain.hashOf(height)}${chain.txidOf(height)}`.padEnd(160, '0')
}

function getBlock(view: View, [hash, verbosity = 1]: RpcParams): unknown {
  const { chain } = view
  const height = heightOf(view, hash)
  const raw = `${rawHeader(chain, height)}01${rawTransaction(chain, height)}`
  if (verbosity === 0 || verbosity === false) return raw
  const size = raw.length / 2
  const tx = Number(verbosity) > 1 ? txJson(chain, height) : chain.txidOf(height)
  return { ...headerJson(view, height), strippedsize: size, size, weight: 4 * size, tx: [tx] }
}

function getRawTransaction(view: View, [txid, verbosity = 0]: RpcParams): unknown {
  const { chain, head } = view
  const height = chain.find(txid, 'txidOf')
  if (height === null || height > head)
    throw new RpcError(-5, 'No such mempool or blockchain transaction.')
  if (verbosity === 0 || verbosity === false) return rawTransaction(chain, height)
  const { hash: blockhash, confirmations, time } = headerJson(view, height)
  const place = { in_active_chain: true, blockhash, confirmations, time, blocktime: time }
  return { ...txJson(chain, height), ...place }
}

function txJson(chain: BitcoinChain, height: number) {
  const [txid, hex] = [chain.txidOf(height), rawTransaction(chain, height)]
  const size = hex.length / 2
  return {
    ...{ txid, hash: txid, version: 2, size, vsize: size, weight: 4 * size, locktime: 0 },
    vin: [{ coinbase: chain.word('coinbase', height), sequence: 0xffff_ffff }],
    vout: [
      { value: subsidy / 1e8, n: 0, scriptPubKey: { asm: '', hex: '51', type: 'nonstandard' } },
    ],
    hex,
  }
}

function rawTransaction(chain: BitcoinChain, height: number): string {
  return `02000000${chain.word('coinbase', height)}`.padEnd(170, '0')
}
