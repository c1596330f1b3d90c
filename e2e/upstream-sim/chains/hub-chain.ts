// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChainOptions, GrowingChain } from '../growing-chain.ts'
import { digest } from '../hex.ts'
import type { NodeView } from '../node-view.ts'

export const denom = 'uatom'
export const accountBalance = '1000000000000'

/** A chain of the SDK family. Every block is final. */
export class HubChain extends GrowingChain<never> {
  readonly network = 'cosmoshub-4'

  constructor(options: ChainOptions = {}) {
    super(options, { blockTimeMs: 6_000, head: 28_000_000 })
  }

  /** Deterministic bytes for a block, such as its hash and its app hash. */
  bytes(word: string, height: number): Buffer {
    return digest(this.seed, word, height)
  }

  isoTimeOf(height: number): string {
    return new Date(this.wallMsOf(height)).toISOString()
  }
}

export type HubView = NodeView<HubChain>

/* Tendermint RPC encodes the hashes of blocks in hex, and REST in base64. */

export type HashText = (bytes: Buffer) => string
export const inHex: HashText = (bytes) => bytes.toString('hex').toUpperCase()
export const inBase64: HashText = (bytes) => bytes.toString('base64')

export function nodeInfo({ network }: HubChain) {
  return {
    protocol_version: { p2p: '8', block: '11', app: '0' },
    id: '00'.repeat(20),
    network,
    version: '0.38.17',
    moniker: 'sim',
    other: { tx_index: 'on', rpc_address: 'tcp://0.0.0.0:26657' },
  }
}

export function blockIdJson(chain: HubChain, height: number, text: HashText) {
  const parts = { total: 1, hash: text(chain.bytes('parts', height)) }
  return { hash: text(chain.bytes('block', height)), parts }
}

export function headerJson(chain: HubChain, height: number, text: HashText) {
  const word = (name: string, at = height) => text(chain.bytes(name, at))
  return {
    version: { block: '11', app: '0' },
    chain_id: chain.network,
    height: String(height),
    time: chain.isoTimeOf(height),
    last_block_id: blockIdJson(chain, height - 1, text),
    last_commit_hash: word('commit'),
    data_hash: word('data'),
    validators_hash: word('validators', 0),
    next_validators_hash: word('validators', 0),
    consensus_hash: word('consensus', 0),
    app_hash: word('app'),
    last_results_hash: word('results'),
    evidence_hash: word('evidence', 0),
    proposer_address: text(chain.bytes('proposer', height % 10).subarray(0, 20)),
  }
}

export function commitJson(chain: HubChain, height: number, text: HashText) {
  const id = blockIdJson(chain, height, text)
  return { height: String(height), round: 0, block_id: id, signatures: [] }
}

export function blockJson(chain: HubChain, height: number, text: HashText) {
  return {
    header: headerJson(chain, height, text),
    data: { txs: [] },
    evidence: { evidence: [] },
    last_commit: commitJson(chain, height - 1, text),
  }
}
