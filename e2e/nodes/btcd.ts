// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Child, untilItServes } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { waitUntil } from '../processes/eventually.ts'
import { makeHome, type NodeSite } from './node-site.ts'

const user = 'router'
const password = 'regtest-only'
/** The address of the secret key 1, which is public: these coins have no value. */
const miningAddress = 'mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r'
/** The secret key that owns all mined coins. */
export const miningKey = `0x${'1'.padStart(64, '0')}`
const agreementTimeoutMs = 60_000

/** A btcd in regtest, where `generate` mines blocks at once. */
export interface BtcdNode {
  readonly name: string
  readonly url: string
  /** The value of the `Authorization` header. */
  readonly authorization: string
  /** Address for peers. */
  readonly peerAddress: string
  readonly child: Child
}

export interface BtcdOptions {
  readonly name: string
  /** Peer to connect to. Without one the node waits for connections. */
  readonly peer?: BtcdNode
}

/** Starts one btcd and waits until it answers. */
async function startBtcd(site: NodeSite, { name, peer }: BtcdOptions): Promise<BtcdNode> {
  const [port, peerPort] = await freePorts(2)
  const home = await makeHome(site, name)
  const configFile = join(home, 'btcd.conf')
  const peerAddress = `127.0.0.1:${peerPort}`
  await writeFile(
    configFile,
    [
      '[Application Options]',
      ...['regtest=1', 'notls=1', 'txindex=1', 'addrindex=1', 'nodnsseed=1', 'nobanning=1'],
      ...[`datadir=${home}/data`, `logdir=${home}/logs`, `miningaddr=${miningAddress}`],
      ...[`rpcuser=${user}`, `rpcpass=${password}`, `rpclisten=127.0.0.1:${port}`],
      // A router opens more connections than btcd's default limit of ten.
      'rpcmaxclients=200',
      `listen=${peerAddress}`,
      ...(peer ? [`connect=${peer.peerAddress}`] : []),
      '',
    ].join('\n'),
    { mode: 0o600 },
  )
  const child = await site.children.start({
    name,
    command: site.cache.program('btcd'),
    args: [`--configfile=${configFile}`],
  })
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const url = `http://127.0.0.1:${port}`
  const node = { name, url, authorization, peerAddress, child }
  await untilItServes(
    child,
    site.signal,
    async () => (await askBtcd<number>(node, 'getblockcount')) >= 0,
  )
  return node
}

/** Starts two peers of one chain, with enough blocks to make the oldest coins spendable. */
export async function startBtcdPair(
  site: NodeSite,
  names: readonly [string, string] = ['btcd-a', 'btcd-b'],
  blocks = 105,
): Promise<[BtcdNode, BtcdNode]> {
  const first = await startBtcd(site, { name: names[0] })
  const second = await startBtcd(site, { name: names[1], peer: first })
  await waitUntil('the peers are connected', agreementTimeoutMs, site.signal, async () => {
    const peers = await askBtcd<unknown[]>(first, 'getpeerinfo')
    return peers.length > 0
  })
  await generate(site, [first, second], blocks)
  return [first, second]
}

/** Mines blocks on the first node, and waits until all nodes have them. */
export async function generate(
  site: NodeSite,
  nodes: readonly [BtcdNode, ...BtcdNode[]],
  blocks: number,
): Promise<string[]> {
  const hashes = await askBtcd<string[]>(nodes[0], 'generate', [blocks])
  const newest = hashes.at(-1)
  await waitUntil('all have the new blocks', agreementTimeoutMs, site.signal, async () => {
    const best = await Promise.all(nodes.map((node) => askBtcd(node, 'getbestblockhash')))
    return best.every((hash) => hash === newest)
  })
  return hashes
}

/** Sends a call to a btcd. Rejects on an error of the node. */
export async function askBtcd<T>(
  { url, authorization }: Pick<BtcdNode, 'url' | 'authorization'>,
  method: string,
  params: readonly unknown[] = [],
): Promise<T> {
  return askRpc<T>(url, method, params, { authorization })
}
