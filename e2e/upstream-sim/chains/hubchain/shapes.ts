// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeView } from '../node-view.ts'
import { denom, type HubChain } from './chain.ts'
import type { HubTransaction } from './transaction.ts'

/* Blocks and transactions, which Tendermint RPC writes with hashes in hex, and REST in base64. */

export type HubView = NodeView<HubChain>
export type HashText = (bytes: Buffer) => string

export const inHex: HashText = (bytes) => bytes.toString('hex').toUpperCase()
export const inBase64: HashText = (bytes) => bytes.toString('base64')

export const gas = { wanted: '100000', used: '71000' }

export function blockIdJson(chain: HubChain, height: number, text: HashText) {
  return {
    hash: text(chain.bytes('block', height)),
    parts: { total: 1, hash: text(chain.bytes('parts', height)) },
  }
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

export function blockJson(chain: HubChain, height: number, text: HashText) {
  return {
    header: headerJson(chain, height, text),
    data: { txs: chain.sentIn(height).map(({ raw }) => raw.toString('base64')) },
    evidence: { evidence: [] },
    last_commit: {
      height: String(height - 1),
      round: 0,
      block_id: blockIdJson(chain, height - 1, text),
      signatures: [],
    },
  }
}

/** A coin as queries give it. */
export function coinJson(amount: bigint) {
  return { denom, amount: String(amount) }
}

/** A transaction with its block, as REST gives it. */
export function txResponseJson(chain: HubChain, { hash, raw }: HubTransaction, height: number) {
  return {
    height: String(height),
    txhash: hash,
    codespace: '',
    code: 0,
    data: '',
    raw_log: '',
    logs: [],
    info: '',
    gas_wanted: gas.wanted,
    gas_used: gas.used,
    tx: { '@type': '/cosmos.tx.v1beta1.Tx', raw: raw.toString('base64') },
    timestamp: height === 0 ? '' : chain.isoTimeOf(height),
    events: [],
  }
}
