// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RpcError } from '../../rpc-error.ts'
import type { RpcParams } from '../rpc-node.ts'
import { queryOf } from './queries.ts'
import { blockIdJson, blockJson, gas, headerJson, type HubView, inHex } from './shapes.ts'
import { type HubTransaction, readTransaction } from './transaction.ts'

type Method = (view: HubView, params: RpcParams) => unknown

/** The methods of Tendermint RPC, and the order of their params. */
export const tendermintMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['health', () => ({})],
  ['status', status],
  ['net_info', () => ({ listening: true, listeners: [], n_peers: '0', peers: [] })],
  [
    'abci_info',
    (view) => ({
      response: {
        data: 'sim',
        version: '1.0.0',
        last_block_height: String(view.head),
        last_block_app_hash: view.chain.bytes('app', view.head).toString('base64'),
      },
    }),
  ],
  ['abci_query', abciQuery],
  ['block', (view, params) => block(view, heightAt(view, params[0]))],
  ['block_by_hash', (view, params) => blockByHash(view, params[0])],
  [
    'header',
    (view, params) => ({ header: headerJson(view.chain, heightAt(view, params[0]), inHex) }),
  ],
  ['commit', (view, params) => commit(view, heightAt(view, params[0]))],
  ['block_results', (view, params) => blockResults(view, heightAt(view, params[0]))],
  [
    'validators',
    (view, params) => ({
      block_height: String(heightAt(view, params[0])),
      validators: [],
      count: '0',
      total: '0',
    }),
  ],
  ['tx', (view, params) => txByHash(view, params[0])],
  ['tx_search', txSearch],
  [
    'num_unconfirmed_txs',
    (view) => ({
      n_txs: String(view.chain.waiting.length),
      total: '0',
      total_bytes: '0',
      txs: null,
    }),
  ],
  ['broadcast_tx_async', broadcast],
  ['broadcast_tx_sync', broadcast],
])

export const tendermintNames: ReadonlyMap<string, readonly string[]> = new Map<
  string,
  readonly string[]
>([
  ...['block', 'header', 'commit', 'block_results', 'validators'].map(
    (method) => [method, ['height']] as const,
  ),
  ['abci_query', ['path', 'data', 'height', 'prove']],
  ['block_by_hash', ['hash']],
  ['tx', ['hash', 'prove']],
  ['tx_search', ['query', 'prove', 'page', 'per_page', 'order_by']],
  ['broadcast_tx_async', ['tx']],
  ['broadcast_tx_sync', ['tx']],
])

function status(view: HubView): unknown {
  const { chain, head, settings } = view
  return {
    node_info: {
      protocol_version: { p2p: '8', block: '11', app: '0' },
      id: chain.bytes('node', 0).toString('hex', 0, 20),
      listen_addr: 'tcp://0.0.0.0:26656',
      network: chain.network,
      version: '0.38.17',
      channels: '40202122233038606100',
      moniker: 'sim',
      other: { tx_index: 'on', rpc_address: 'tcp://0.0.0.0:26657' },
    },
    sync_info: {
      latest_block_hash: inHex(chain.bytes('block', head)),
      latest_app_hash: inHex(chain.bytes('app', head)),
      latest_block_height: String(head),
      latest_block_time: chain.isoTimeOf(head),
      earliest_block_hash: inHex(chain.bytes('block', settings.earliestBlock)),
      earliest_app_hash: inHex(chain.bytes('app', settings.earliestBlock)),
      earliest_block_height: String(settings.earliestBlock),
      earliest_block_time: chain.isoTimeOf(settings.earliestBlock),
      catching_up: false,
    },
    validator_info: {
      address: inHex(chain.bytes('validator', 0).subarray(0, 20)),
      pub_key: {
        type: 'tendermint/PubKeyEd25519',
        value: chain.bytes('key', 0).toString('base64'),
      },
      voting_power: '0',
    },
  }
}

/** The height that a call names, or the latest one. */
function heightAt(view: HubView, value: unknown): number {
  const text = typeof value === 'number' ? String(value) : value
  if (text === undefined || text === null || text === '') return view.answered(view.head)
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw internal(`error converting height: ${String(value)}`)
  const height = Number(text)
  if (height === 0) throw internal('height must be greater than 0, but got 0')
  if (height > view.head)
    throw internal(
      `height ${height} must be less than or equal to the current blockchain height ${view.head}`,
    )
  if (!view.has(height))
    throw internal(
      `height ${height} is not available, lowest height is ${view.settings.earliestBlock}`,
    )
  return view.answered(height)
}

function internal(data: string): RpcError {
  return new RpcError(-32603, 'Internal error', data)
}

function block({ chain }: HubView, height: number) {
  return { block_id: blockIdJson(chain, height, inHex), block: blockJson(chain, height, inHex) }
}

function blockByHash(view: HubView, hash: unknown) {
  const wanted = hexOf(hash)
  for (let height = view.head; height > view.head - 100 && height > 0; height--)
    if (inHex(view.chain.bytes('block', height)) === wanted)
      return block(view, view.answered(height))
  return { block_id: { hash: '', parts: { total: 0, hash: '' } }, block: null }
}

function commit({ chain }: HubView, height: number) {
  const id = blockIdJson(chain, height, inHex)
  const header = headerJson(chain, height, inHex)
  const given = { height: String(height), round: 0, block_id: id, signatures: [] }
  return { signed_header: { header, commit: given }, canonical: true }
}

function blockResults({ chain }: HubView, height: number) {
  return {
    height: String(height),
    txs_results: chain.sentIn(height).map(() => txResult),
    finalize_block_events: [],
    validator_updates: null,
    consensus_param_updates: null,
    app_hash: chain.bytes('app', height).toString('base64'),
  }
}

function abciQuery(view: HubView, [path, data, wanted]: RpcParams) {
  const isLatest = wanted === undefined || wanted === null || Number(wanted) === 0
  const height = heightAt(view, isLatest ? undefined : wanted)
  const query = queryOf(String(path))
  const empty = {
    log: '',
    info: '',
    index: '0',
    key: null,
    value: null,
    proofOps: null,
    codespace: '',
  }
  if (query === null) {
    const response = {
      ...empty,
      code: 6,
      log: `unknown query path: ${String(path)}`,
      height: '0',
      codespace: 'sdk',
    }
    return { response }
  }
  const value = query(view, Buffer.from(String(data), 'hex'), height).toString('base64')
  return { response: { ...empty, code: 0, value, height: String(height) } }
}

const txResult = {
  code: 0,
  data: '',
  log: '',
  info: '',
  gas_wanted: gas.wanted,
  gas_used: gas.used,
  events: [],
  codespace: '',
}

function txJson({ hash, raw }: HubTransaction, height: number) {
  return { hash, height: String(height), index: 0, tx_result: txResult, tx: raw.toString('base64') }
}

function txByHash(view: HubView, hash: unknown) {
  const wanted = hexOf(hash)
  const placed = view.chain.sent(wanted)
  if (!placed?.height || placed.height > view.head) throw internal(`tx (${wanted}) not found`)
  return txJson(placed.sent, placed.height)
}

function txSearch(view: HubView, [query]: RpcParams) {
  const wanted = /tx\.hash='([0-9A-F]+)'/i.exec(String(query))?.[1]?.toUpperCase()
  const found = view.chain
    .sentUpTo(view.head)
    .filter(({ hash }) => wanted === undefined || hash === wanted)
    .map((sent) => txJson(sent, view.chain.sent(sent.hash)?.height ?? 0))
  return { txs: found, total_count: String(found.length) }
}

function broadcast(view: HubView, [tx]: RpcParams) {
  try {
    const sent = readTransaction(Buffer.from(String(tx), 'base64'))
    view.chain.submit(sent.hash, sent)
    return { code: 0, data: '', log: '', codespace: '', hash: sent.hash }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const hash = ''.padStart(64, '0')
    return { code: 2, data: '', log: 'tx parse error', codespace: 'sdk', hash }
  }
}

/** A hash in hex or in base64, as both kinds of request write it. */
function hexOf(hash: unknown): string {
  const text = String(hash)
  if (/^(?:0x)?[0-9a-f]{64}$/i.test(text)) return text.replace(/^0x/i, '').toUpperCase()
  return Buffer.from(text, 'base64').toString('hex').toUpperCase()
}
