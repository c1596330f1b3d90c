// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import type { ApiInterface } from '../../proxy/config/types.ts'
import { BitcoinChain, bitcoinNode } from '../upstream-sim/chains/btc.ts'
import { HubChain } from '../upstream-sim/chains/hub-chain.ts'
import { hubRestNode } from '../upstream-sim/chains/hub-rest.ts'
import { hubTendermintNode } from '../upstream-sim/chains/hub-tendermint.ts'
import { MoveChain } from '../upstream-sim/chains/move-chain.ts'
import { moveNode } from '../upstream-sim/chains/move-node.ts'
import { SlotChain } from '../upstream-sim/chains/slot-chain.ts'
import { slotNode } from '../upstream-sim/chains/slot-node.ts'
import { FaultSwitch } from '../upstream-sim/faults.ts'
import type { ViewSettings } from '../upstream-sim/node-view.ts'
import type { ChainNode } from '../upstream-sim/served-node.ts'
import type { WrongValue } from './wrong-node.ts'
import type { NodeReply } from '../upstream-sim/http-reply.ts'

/** A request: a JSON-RPC method, or a path. */
export interface Read {
  readonly method?: string
  readonly params?: unknown
  readonly path?: string
}

/** A chain with nodes whose views may differ, and reads about it. */
export interface ChainUnderTest {
  readonly chain: { readonly head: number; mine(count?: number): unknown }
  makeNode(settings?: Partial<ViewSettings>): ChainNode
  /** Reads with fixed answers about heights near this one. */
  readonly reads: (height: number) => readonly Read[]
  /** Reads about the newest state. */
  readonly readsNow: readonly Read[]
}

export interface ChainCase {
  readonly name: string
  readonly chainId: string
  readonly apiInterface: ApiInterface
  /** Base path of the nodes. */
  readonly base?: string
  /** Number of blocks that makes a node lag. */
  readonly lagBlocks: number
  /** Wrong values that the checks of the chain's spec detect. */
  readonly wrongValues: readonly WrongValue[]
  readonly create: (seed: string) => ChainUnderTest
}

/** A different word of the same length and kind. */
function another(text: string): string {
  const [first = ''] = text.replace(/^0x/, '')
  const other = /[0-9a-f]/i.test(first) && first !== '1' ? '1' : '2'
  return text.startsWith('0x') ? `0x${other}${text.slice(3)}` : `${other}${text.slice(1)}`
}
const next = (value: string | number) =>
  typeof value === 'string' ? String(Number(value) + 1) : value + 1

const noFaults = () => new FaultSwitch(seededRandom(0))

export const chainCases: readonly ChainCase[] = [
  {
    name: 'BTC',
    chainId: 'BTC',
    apiInterface: 'jsonrpc',
    lagBlocks: 5,
    wrongValues: [
      ['getblock', ['hash'], another],
      ['getblockheader', ['hash'], another],
      ['getrawtransaction', ['txid'], another],
    ],
    create(seed) {
      const chain = new BitcoinChain({ seed })
      return {
        chain,
        makeNode: (settings) => bitcoinNode(chain, noFaults(), settings),
        readsNow: [
          { method: 'getblockcount', params: [] },
          { method: 'getbestblockhash', params: [] },
        ],
        reads(height) {
          const [hash, txid] = [chain.hashOf(height), chain.txidOf(height)]
          return [
            { method: 'getblockhash', params: [height] },
            { method: 'getblock', params: [hash, 0] },
            { method: 'getblock', params: [hash, 1] },
            { method: 'getblock', params: [hash, 2] },
            { method: 'getblockheader', params: [hash] },
            { method: 'getblockheader', params: [hash, false] },
            { method: 'getblockstats', params: [height] },
            { method: 'getblockstats', params: [hash] },
            { method: 'getrawtransaction', params: [txid, 1] },
            { method: 'getrawtransaction', params: [txid] },
          ]
        },
      }
    },
  },
  {
    name: 'SLOTCHAIN',
    chainId: 'SLOTCHAIN',
    apiInterface: 'jsonrpc',
    lagBlocks: 200,
    wrongValues: [
      ['getBlock', ['parentSlot'], (slot: number) => slot + 1_000_000],
      ['getBlock', ['parentSlot'], (slot: number) => slot - 1_000_000],
      ['getTransaction', ['transaction', 'signatures', 0], another],
    ],
    create(seed) {
      const chain = new SlotChain({ seed })
      const [sent] = chain.block(chain.filled(chain.head - 50))!.transactions
      const [account] = sent!.message.accountKeys
      return {
        chain,
        makeNode: (settings) => slotNode(chain, noFaults(), settings),
        readsNow: [
          { method: 'getSlot', params: [] },
          { method: 'getBlockHeight', params: [{ commitment: 'finalized' }] },
          { method: 'getLatestBlockhash', params: [] },
          { method: 'getBalance', params: [account] },
          { method: 'getSignatureStatuses', params: [[sent!.signature, sent!.signature]] },
          { method: 'getMultipleAccounts', params: [[account, account]] },
        ],
        reads(height) {
          const slot = chain.filled(height)
          const { transactions } = chain.block(slot)!
          const { signature } = transactions[0]!
          return [
            { method: 'getGenesisHash', params: [] },
            { method: 'getBlock', params: [slot, { transactionDetails: 'signatures' }] },
            { method: 'getBlock', params: [slot, { transactionDetails: 'full' }] },
            { method: 'getBlocks', params: [slot - 5, slot] },
            { method: 'getTransaction', params: [signature] },
          ]
        },
      }
    },
  },
  {
    name: 'HUBCHAIN by REST',
    chainId: 'HUBCHAIN',
    apiInterface: 'rest',
    lagBlocks: 20,
    wrongValues: [
      ['GET /base/tendermint/v1beta1/blocks/{height}', ['block', 'header', 'height'], next],
    ],
    create(seed) {
      const chain = new HubChain({ seed })
      const root = '/cosmos/base/tendermint/v1beta1'
      return {
        chain,
        makeNode: (settings) => hubRestNode(chain, settings),
        readsNow: [],
        reads: (height) => [
          { path: `${root}/blocks/${height}` },
          { path: `${root}/blocks/${height - 7}` },
        ],
      }
    },
  },
  {
    name: 'HUBCHAIN by Tendermint RPC',
    chainId: 'HUBCHAIN',
    apiInterface: 'tendermintrpc',
    lagBlocks: 20,
    wrongValues: [
      ['block', ['block', 'header', 'height'], next],
      ['block_by_hash', ['block_id', 'hash'], another],
      ['header', ['header', 'height'], next],
      ['commit', ['signed_header', 'header', 'height'], next],
      ['block_results', ['height'], next],
      ['validators', ['block_height'], next],
    ],
    create(seed) {
      const chain = new HubChain({ seed })
      return {
        chain,
        makeNode: (settings) => hubTendermintNode(chain, noFaults(), settings),
        readsNow: [],
        reads(height) {
          const of = { height: String(height) }
          const hash = chain.bytes('block', height).toString('base64')
          return [
            { method: 'block', params: of },
            { method: 'block', params: [String(height)] },
            { method: 'block_by_hash', params: { hash } },
            { method: 'header', params: of },
            { method: 'commit', params: of },
            { method: 'block_results', params: of },
            { method: 'validators', params: of },
          ]
        },
      }
    },
  },
  {
    name: 'MOVECHAIN',
    chainId: 'MOVECHAIN',
    apiInterface: 'rest',
    base: '/v1',
    lagBlocks: 500,
    wrongValues: [
      ['GET /blocks/by_height/{height}', ['block_height'], next],
      ['GET /transactions/by_version/{version}', ['version'], next],
      ['GET /transactions/by_hash/{hash}', ['hash'], another],
    ],
    create(seed) {
      const chain = new MoveChain({ seed })
      const account = `0x${'11'.repeat(32)}`
      return {
        chain,
        makeNode: (settings) => moveNode(chain, settings),
        readsNow: [{ path: '/estimate_gas_price' }],
        reads(height) {
          const version = height * 10 + 3
          return [
            { path: `/blocks/by_height/${height}` },
            { path: `/blocks/by_height/${height}?with_transactions=true` },
            { path: `/blocks/by_version/${version}` },
            { path: `/transactions/by_version/${version}` },
            { path: `/transactions/by_hash/${chain.hashAt(version)}` },
            { path: `/transactions?start=${version}&limit=5` },
            { path: `/accounts/${account}?ledger_version=${version}` },
          ]
        },
      }
    },
  },
]

/** The exact answer of an honest node with the whole chain. */
export function honestly(
  node: ChainNode,
  { base = '' }: ChainCase,
  read: Read,
  id: string,
): NodeReply {
  const [path = '', query = ''] = `${base}${read.path ?? '/'}`.split('?')
  return node.answer({
    verb: read.path === undefined ? 'POST' : 'GET',
    path,
    query: new URLSearchParams(query),
    headers: {},
    body: Buffer.from(read.path === undefined ? bodyOf(read, id) : ''),
  })
}

export function bodyOf({ method, params }: Read, id: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}
