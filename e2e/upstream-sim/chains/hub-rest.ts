// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ViewSettings, viewOf } from '../node-view.ts'
import { RestNode, RestReply, type Route, type RouteCall } from '../rest-node.ts'
import { blockIdJson, blockJson, denom, accountBalance, type HubChain } from './hub-chain.ts'
import { type HubView, inBase64, nodeInfo } from './hub-chain.ts'

/** A REST gateway of the hub chain, with paths below `/cosmos` or `/sdk`. */
export function hubRestNode(
  chain: HubChain,
  settings?: Partial<ViewSettings>,
  root: '/cosmos' | '/sdk' = '/cosmos',
): RestNode<HubView> {
  return new RestNode(viewOf(chain, settings), {
    prefix: root,
    routes,
    headersOf: ({ head }) => ({ 'grpc-metadata-x-cosmos-block-height': String(head) }),
    notFound: refused(501, 12, 'Not Implemented'),
  })
}

const base = '/base/tendermint/v1beta1'
const pagination = { next_key: null, total: '1' }

const routes: Readonly<Record<string, Route<HubView>>> = {
  [`GET ${base}/node_info`]: ({ view }) => ({ default_node_info: nodeInfo(view.chain) }),
  [`GET ${base}/blocks/latest`]: ({ view }) => blockAt(view, view.head),
  [`GET ${base}/blocks/{height}`]: ({ view, segment }) =>
    blockAt(view, heightIn(view, segment('height'))),
  'GET /bank/v1beta1/supply': (call) => ({
    supply: [{ denom, amount: String(400_000_000_000_000 + stateHeight(call)) }],
    pagination,
  }),
  'GET /bank/v1beta1/balances/{address}': () => ({
    balances: [{ denom, amount: accountBalance }],
    pagination,
  }),
}

function blockAt({ chain }: HubView, height: number) {
  const block = blockJson(chain, height, inBase64)
  return { block_id: blockIdJson(chain, height, inBase64), block, sdk_block: block }
}

/** Parses a height that the node has. */
function heightIn({ head }: HubView, text: string): number {
  if (/^\d{1,15}$/.test(text) && Number(text) <= head) return Number(text)
  throw refused(400, 3, 'requested block height is bigger then the chain length')
}

/** The height of a state query, which a header may set. */
function stateHeight({ view, headers }: RouteCall<HubView>): number {
  const text = String(headers['x-cosmos-block-height'] ?? '0')
  return text === '0' ? view.head : heightIn(view, text)
}

function refused(status: number, code: number, message: string): RestReply {
  return new RestReply(status, { code, message, details: [] })
}
