// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../../rpc-error.ts'
import type { NodeView } from '../node-view.ts'
import type { RpcParams } from '../rpc-node.ts'
import type { BitcoinBlock, BitcoinChain } from './chain.ts'
import { headerJson, rawBlock, txJson } from './shapes.ts'
import { readTx, type Tx } from './transaction.ts'

export type BitcoinView = NodeView<BitcoinChain>
type Method = (view: BitcoinView, params: RpcParams) => unknown

/** The methods of a simulated Bitcoin node. `received` is what it was sent itself. */
export function bitcoinMethods(received: Set<string>): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    ['getblockcount', (view) => view.head],
    ['getbestblockhash', (view) => view.chain.block(view.head).hash],
    ['getblockhash', (view, [height]) => atHeight(view, height).hash],
    ['getblockheader', getBlockHeader],
    ['getblock', getBlock],
    ['getblockstats', getBlockStats],
    ['getblockchaininfo', getBlockchainInfo],
    ['getrawtransaction', getRawTransaction],
    ['decoderawtransaction', (_view, [hex]) => txJson(decode(hex))],
    ['sendrawtransaction', (view, [hex]) => sendRawTransaction(view, hex, received)],
    ['getrawmempool', (view) => view.chain.waiting.map(({ txid }) => txid)],
  ])
}

export const bitcoinParamNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['getblockhash', ['height']],
  ['getblock', ['blockhash', 'verbosity']],
  ['getblockheader', ['blockhash', 'verbose']],
  ['getrawtransaction', ['txid', 'verbosity', 'blockhash']],
  ['sendrawtransaction', ['hexstring', 'maxfeerate']],
])

function atHeight(view: BitcoinView, height: unknown): BitcoinBlock {
  if (typeof height !== 'number') throw new RpcError(-3, 'JSON value is not an integer as expected')
  if (height < 0 || height > view.head) throw new RpcError(-8, 'Block height out of range')
  return view.chain.block(view.answered(height))
}

function byHash(view: BitcoinView, hash: unknown): BitcoinBlock {
  const found = typeof hash === 'string' ? view.chain.find(hash) : null
  if (found === null || found.height > view.head) throw new RpcError(-5, 'Block not found')
  const { height } = found
  return view.answered(height) === height ? found : view.chain.block(view.answered(height))
}

function placeOf(view: BitcoinView, block: BitcoinBlock) {
  const next = block.height < view.head ? view.chain.block(block.height + 1) : null
  const isCanonical = view.chain.block(block.height).hash === block.hash
  return { head: view.head, next, isCanonical }
}

function getBlockHeader(view: BitcoinView, [hash, verbose = true]: RpcParams): unknown {
  const block = byHash(view, hash)
  return verbose === true ? headerJson(block, placeOf(view, block)) : block.header.toString('hex')
}

function getBlock(view: BitcoinView, [hash, verbosity = 1]: RpcParams): unknown {
  const block = byHash(view, hash)
  if (!view.has(block.height)) throw new RpcError(-1, 'Block not available (pruned data)')
  if (verbosity === 0 || verbosity === false) return rawBlock(block).toString('hex')
  const size = rawBlock(block).length
  return {
    ...headerJson(block, placeOf(view, block)),
    strippedsize: size,
    size,
    weight: 4 * size,
    tx: block.transactions.map((tx) => (Number(verbosity) > 1 ? txJson(tx) : tx.txid)),
  }
}

function getBlockStats(view: BitcoinView, [which]: RpcParams): unknown {
  const { height, hash, transactions } =
    typeof which === 'number' ? atHeight(view, which) : byHash(view, which)
  return { height, blockhash: hash, txs: transactions.length, subsidy: 312_500_000, totalfee: 0 }
}

function getBlockchainInfo(view: BitcoinView): unknown {
  const { hash, header } = view.chain.block(view.head)
  return {
    chain: view.chain.network,
    blocks: view.head,
    headers: view.head,
    bestblockhash: hash,
    difficulty: 1,
    time: header.readUInt32LE(68),
    verificationprogress: 1,
    initialblockdownload: false,
    pruned: view.settings.earliestBlock > 0,
    warnings: [],
  }
}

function getRawTransaction(view: BitcoinView, [txid, verbosity = 0]: RpcParams): unknown {
  const found = typeof txid === 'string' ? view.chain.findTx(txid) : null
  if (found === null || (found.block !== null && found.block.height > view.head))
    throw new RpcError(
      -5,
      'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
    )
  const { tx, block } = found
  if (verbosity === 0 || verbosity === false) return tx.raw.toString('hex')
  if (block === null) return txJson(tx)
  const { hash: blockhash, confirmations, time } = headerJson(block, placeOf(view, block))
  return { ...txJson(tx), in_active_chain: true, blockhash, confirmations, time, blocktime: time }
}

function sendRawTransaction(view: BitcoinView, hex: unknown, received: Set<string>): string {
  const tx = decode(hex)
  if (view.chain.findTx(tx.txid)?.block)
    throw new RpcError(-27, 'Transaction outputs already in utxo set')
  if (received.has(tx.txid)) throw new RpcError(-26, 'txn-already-in-mempool')
  received.add(tx.txid)
  view.chain.submit(tx.txid, tx)
  return tx.txid
}

function decode(hex: unknown): Tx {
  try {
    if (typeof hex !== 'string' || !/^(?:[0-9a-f]{2})+$/i.test(hex)) throw new RangeError('no hex')
    return readTx(Buffer.from(hex, 'hex'))
  } catch (cause) {
    const message = 'TX decode failed. Make sure the tx has at least one input.'
    throw Object.assign(new RpcError(-22, message), { cause })
  }
}
