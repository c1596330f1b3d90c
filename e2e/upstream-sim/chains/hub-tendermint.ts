// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../faults.ts'
import { RpcError } from '../json-rpc.ts'
import { type ViewSettings, viewOf } from '../node-view.ts'
import { type RpcDialect, RpcNode, type RpcParams } from '../rpc-node.ts'
import { blockIdJson, blockJson, commitJson, denom, accountBalance } from './hub-chain.ts'
import { headerJson, type HubChain, type HubView, inHex, nodeInfo } from './hub-chain.ts'
import { encode } from './protobuf.ts'

export function hubTendermintNode(
  chain: HubChain,
  faults: FaultSwitch,
  settings?: Partial<ViewSettings>,
): RpcNode<HubView> {
  return new RpcNode(viewOf(chain, settings), dialect, faults)
}

/** A method about the block at a height. Default: the latest block. */
const ofHeight =
  (describe: (chain: HubChain, height: number) => unknown) =>
  (view: HubView, [height]: RpcParams) =>
    describe(view.chain, heightAt(view, height))

const heightNames = ['block', 'header', 'commit', 'block_results', 'validators']

const dialect: RpcDialect<HubView> = {
  names: {
    ...Object.fromEntries(heightNames.map((method) => [method, ['height']])),
    abci_query: ['path', 'data', 'height', 'prove'],
    block_by_hash: ['hash'],
  },
  methods: {
    status,
    abci_query: abciQuery,
    block: ofHeight(block),
    block_by_hash: blockByHash,
    header: ofHeight((chain, height) => ({ header: headerJson(chain, height, inHex) })),
    commit: ofHeight((chain, height) => {
      const [header, commit] = [headerJson(chain, height, inHex), commitJson(chain, height, inHex)]
      return { signed_header: { header, commit }, canonical: true }
    }),
    block_results: ofHeight((chain, height) => ({
      height: String(height),
      txs_results: null,
      finalize_block_events: [],
      validator_updates: null,
      consensus_param_updates: null,
      app_hash: chain.bytes('app', height).toString('base64'),
    })),
    validators: ofHeight((_chain, height) => ({
      ...{ block_height: String(height), validators: [], count: '0', total: '0' },
    })),
  },
}

function status({ chain, head }: HubView): unknown {
  const place = (name: string, height: number) => ({
    [`${name}_block_hash`]: inHex(chain.bytes('block', height)),
    [`${name}_app_hash`]: inHex(chain.bytes('app', height)),
    [`${name}_block_height`]: String(height),
    [`${name}_block_time`]: chain.isoTimeOf(height),
  })
  const sync = { ...place('latest', head), ...place('earliest', 1), catching_up: false }
  return { node_info: nodeInfo(chain), sync_info: sync }
}

function heightAt({ head }: HubView, value: unknown): number {
  const named = (value ?? head) as string | number
  const text = String(named)
  const height = Number(text)
  if (!/^\d{1,15}$/.test(text) || height === 0) throw internal(`error converting height: ${text}`)
  if (height <= head) return height
  const most = `the current blockchain height ${head}`
  throw internal(`height ${height} must be less than or equal to ${most}`)
}

function internal(data: string): RpcError {
  return new RpcError(-32603, 'Internal error', data)
}

function block(chain: HubChain, height: number) {
  return { block_id: blockIdJson(chain, height, inHex), block: blockJson(chain, height, inHex) }
}

/** Finds one of the newest blocks. @param hash in base64 or hex */
function blockByHash({ chain, head }: HubView, [hash]: RpcParams) {
  const text = String(hash)
  const wanted = /^[0-9a-f]{64}$/i.test(text) ? text : inHex(Buffer.from(text, 'base64'))
  for (let height = head; height > head - 100; height--)
    if (inHex(chain.bytes('block', height)) === wanted.toUpperCase()) return block(chain, height)
  return { block_id: { hash: '', parts: { total: 0, hash: '' } }, block: null }
}

/** The balance of an account, the only simulated query. */
function abciQuery({ head }: HubView, [path]: RpcParams) {
  const isKnown = path === '/cosmos.bank.v1beta1.Query/Balance'
  const log = isKnown ? '' : `unknown query path: ${String(path)}`
  const value = isKnown ? balanceAnswer.toString('base64') : null
  const height = isKnown ? String(head) : '0'
  return {
    response: { code: isKnown ? 0 : 6, log, info: '', index: '0', key: null, value, height },
  }
}

/** The answer to every balance query. */
export const balanceAnswer = encode({ 1: { 1: denom, 2: accountBalance } })
