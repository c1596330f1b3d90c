// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RestError, type Route, type RouteCall } from '../rest-node.ts'
import { denom } from './chain.ts'
import {
  blockIdJson,
  blockJson,
  coinJson,
  gas,
  type HubView,
  inBase64,
  txResponseJson,
} from './shapes.ts'
import { type HubTransaction, readTransaction } from './transaction.ts'

type Call = RouteCall<HubView>

const onePage = { next_key: null, total: '1' }
const noPage = { next_key: null, total: '0' }

/** The paths of the gateway. @param root `/cosmos` or `/sdk` */
export function restRoutes(root: string): readonly Route<HubView>[] {
  const base = `${root}/base/tendermint/v1beta1`
  const get = (path: string, run: Route<HubView>['run']) => ({ verb: 'GET', path, run }) as const
  const post = (path: string, run: Route<HubView>['run']) => ({ verb: 'POST', path, run }) as const
  return [
    get(`${base}/node_info`, ({ view }) => nodeInfo(view)),
    get(`${base}/syncing`, () => ({ syncing: false })),
    get(`${base}/blocks/latest`, ({ view }) => blockAt(view, view.head)),
    get(`${base}/blocks/{height}`, (call) =>
      blockAt(call.view, heightIn(call, call.segment('height'))),
    ),
    get(`${root}/bank/v1beta1/supply`, (call) => ({
      supply: [coinJson(call.view.chain.supply(stateHeight(call)))],
      pagination: onePage,
    })),
    get(`${root}/bank/v1beta1/supply/by_denom`, (call) => ({
      amount: coinJson(call.view.chain.supply(stateHeight(call))),
    })),
    get(`${root}/bank/v1beta1/balances/{address}`, (call) => ({
      balances: [coinJson(balance(call, denom))],
      pagination: onePage,
    })),
    get(`${root}/bank/v1beta1/balances/{address}/by_denom`, (call) => ({
      balance: {
        denom: call.query.get('denom'),
        amount: String(balance(call, call.query.get('denom') ?? '')),
      },
    })),
    get(`${root}/auth/v1beta1/accounts/{address}`, account),
    get(`${root}/staking/v1beta1/validators`, () => ({ validators: [], pagination: noPage })),
    get(`${root}/staking/v1beta1/params`, () => ({
      params: { unbonding_time: '1814400s', max_validators: 180, bond_denom: denom },
    })),
    get(`${root}/distribution/v1beta1/params`, () => ({
      params: { community_tax: '0.020000000000000000' },
    })),
    get(`${root}/slashing/v1beta1/params`, () => ({ params: { signed_blocks_window: '10000' } })),
    get(`${root}/tx/v1beta1/txs/{hash}`, txByHash),
    post(`${root}/tx/v1beta1/txs`, broadcast),
    post(`${root}/tx/v1beta1/simulate`, (call) => {
      read(call)
      return { gas_info: { gas_wanted: gas.wanted, gas_used: gas.used }, result: null }
    }),
  ]
}

function nodeInfo({ chain }: HubView) {
  return {
    default_node_info: {
      protocol_version: { p2p: '8', block: '11', app: '0' },
      network: chain.network,
      version: '0.38.17',
      moniker: 'sim',
      other: { tx_index: 'on', rpc_address: 'tcp://0.0.0.0:26657' },
    },
    application_version: {
      name: 'sim',
      app_name: 'simd',
      version: '1.0.0',
      cosmos_sdk_version: 'v0.53.0',
    },
  }
}

function blockAt(view: HubView, height: number) {
  const shown = view.answered(height)
  const { chain } = view
  const block = blockJson(chain, shown, inBase64)
  return { block_id: blockIdJson(chain, shown, inBase64), block, sdk_block: block }
}

/** A height that the node has. */
function heightIn({ view }: Call, text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw refused(400, 3, `type mismatch, parameter: height, error: ${text}`)
  const height = Number(text)
  if (height > view.head)
    throw refused(400, 3, 'requested block height is bigger then the chain length')
  if (!view.has(height))
    throw refused(
      500,
      2,
      `height ${height} is not available, lowest height is ${view.settings.earliestBlock}`,
    )
  return height
}

/** The height of the state that a query asks about: a header says it. */
function stateHeight(call: Call): number {
  const text =
    call.header('x-cosmos-block-height') ?? call.header('grpc-metadata-x-cosmos-block-height')
  const height = text === null || text === '0' ? call.view.head : heightIn(call, text)
  return call.view.answered(height)
}

function balance(call: Call, of: string): bigint {
  return call.view.chain.balance(call.segment('address'), of, stateHeight(call))
}

function account(call: Call) {
  const { chain } = call.view
  const address = call.segment('address')
  return {
    account: {
      '@type': '/cosmos.auth.v1beta1.BaseAccount',
      address,
      pub_key: null,
      account_number: String(chain.accountNumber(address)),
      sequence: String(chain.sequence(address, stateHeight(call))),
    },
  }
}

function txByHash({ view, segment }: Call) {
  const hash = segment('hash').toUpperCase()
  const placed = view.chain.sent(hash)
  if (!placed?.height || placed.height > view.head) throw refused(404, 5, `tx not found: ${hash}`)
  const response = txResponseJson(view.chain, placed.sent, placed.height)
  return { tx: response.tx, tx_response: response }
}

function broadcast(call: Call) {
  const sent = read(call)
  call.view.chain.submit(sent.hash, sent)
  return { tx_response: { ...txResponseJson(call.view.chain, sent, 0), tx: null } }
}

function read({ body }: Call): HubTransaction {
  try {
    const { tx_bytes: bytes } = JSON.parse(body.toString()) as { tx_bytes?: string }
    return readTransaction(Buffer.from(bytes ?? '', 'base64'))
  } catch (cause) {
    throw Object.assign(refused(400, 3, 'invalid empty tx: invalid request'), { cause })
  }
}

function refused(status: number, code: number, message: string): RestError {
  return new RestError(status, { code, message, details: [] })
}
