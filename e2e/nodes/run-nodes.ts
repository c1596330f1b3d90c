// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { startAnvil } from './anvil.ts'
import { type BtcdNode, generate, startBtcdPair } from './btcd.ts'
import { builtNodes } from './build/node-cache.ts'
import { startGeth } from './geth.ts'
import { startHub } from './hub-chain.ts'
import type { NodeSite } from './node-site.ts'

const blockSeconds = 1
const bitcoinBlockMs = 10_000

/** A node as it is shown, and what serves it. */
interface Shown {
  readonly name: string
  readonly chain: string
  readonly urls: Readonly<Record<string, string>>
}

/**
 * Starts every kind of node, mining, and prints where they are and a config of the router for them.
 * All of it ends when the signal is aborted.
 */
export async function runNodes(signal: AbortSignal, say: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'rpc-router-nodes-'))
  try {
    await using children = new ChildProcesses(directory)
    const site: NodeSite = { cache: builtNodes(process.env), children, directory, signal }
    say('starting the nodes ...')
    const started = await startAll(site)
    for (const { name, chain, urls } of started.shown) {
      say(`  ${name.padEnd(12)} ${chain}`)
      for (const [kind, url] of Object.entries(urls)) say(`  ${' '.repeat(12)} ${kind}: ${url}`)
    }
    const file = join(directory, 'router.yml')
    const text = stringify(started.config)
    await writeFile(file, text, { mode: 0o600 })
    say(`\n${text}\nThis config is in ${file}. In another terminal:\n`)
    say(`  npx router ${file}\n\nThe nodes run until Ctrl-C.`)
    await mineUntilOver(site, started.bitcoin)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Started {
  readonly shown: readonly Shown[]
  readonly bitcoin: [BtcdNode, BtcdNode]
  readonly config: object
}

async function startAll(site: NodeSite): Promise<Started> {
  const [port = 0, perpPort = 0] = await freePorts(2)
  const mining = { everySeconds: blockSeconds }
  const [anvil, perp, geth, bitcoin, hub] = await Promise.all([
    startAnvil({ ...site, name: 'anvil', port, chainId: 1, mining }),
    startAnvil({ ...site, name: 'anvil-999', port: perpPort, chainId: 999, mining }),
    startGeth(site, { name: 'geth', periodSeconds: blockSeconds }),
    startBtcdPair(site),
    startHub(site, { name: 'wasmd-a', blockMs: blockSeconds * 1000 }),
  ])
  const follower = await startHub(site, { name: 'wasmd-b', blockMs: 1000, peer: hub })
  const hubs = [hub, follower]

  const shown: Shown[] = [
    { ...anvil, chain: 'ETH1', urls: { http: anvil.url, ws: anvil.webSocketUrl } },
    { ...perp, chain: 'PERPEVM', urls: { http: perp.url } },
    {
      ...geth,
      chain: 'a chain of its own, id 1337; not in the config below',
      urls: { http: geth.url, ws: geth.webSocketUrl },
    },
    ...bitcoin.map((node) => ({ ...node, chain: 'BTC-REGTEST', urls: { http: node.url } })),
    ...hubs.map((node) => ({
      ...node,
      chain: 'HUBCHAIN',
      urls: {
        rest: node.restUrl,
        grpc: node.grpcAddress,
        tendermint: node.tendermintUrl,
        ws: node.webSocketUrl,
      },
    })),
  ]
  const legs = [
    leg(3360, 'ETH1', 'jsonrpc', [
      { name: 'anvil', url: anvil.url, webSocketUrl: anvil.webSocketUrl },
    ]),
    leg(
      3362,
      'BTC-REGTEST',
      'jsonrpc',
      bitcoin.map(({ name, url, authorization }) => ({
        name,
        url,
        'auth-config': { 'auth-headers': { authorization } },
      })),
    ),
    leg(3363, 'PERPEVM', 'jsonrpc', [{ name: 'anvil-999', url: perp.url }]),
    leg(
      3364,
      'HUBCHAIN',
      'rest',
      hubs.map(({ name, restUrl }) => ({ name, url: restUrl })),
    ),
    leg(
      3365,
      'HUBCHAIN',
      'tendermintrpc',
      hubs.map(({ name, tendermintUrl, webSocketUrl }) => ({
        name,
        url: tendermintUrl,
        webSocketUrl,
      })),
    ),
    leg(
      3366,
      'HUBCHAIN',
      'grpc',
      hubs.map(({ name, grpcAddress }) => ({ name, url: `grpc://${grpcAddress}` })),
    ),
  ]
  const config = {
    endpoints: legs.map(({ endpoint }) => endpoint),
    'direct-rpc': legs.flatMap(({ upstreams }) => upstreams),
    'metrics-listen-address': '127.0.0.1:7779',
  }
  return { shown, bitcoin, config }
}

type Upstream = Readonly<Record<string, unknown>> & {
  readonly name: string
  readonly url: string
  readonly webSocketUrl?: string
}

/** A listener of the config, on the port that the documentation gives it, and its upstreams. */
function leg(port: number, chainId: string, apiInterface: string, nodes: readonly Upstream[]) {
  const chain = { 'chain-id': chainId, 'api-interface': apiInterface }
  return {
    endpoint: { 'network-address': `127.0.0.1:${port}`, ...chain },
    upstreams: nodes.map(({ name, webSocketUrl, ...url }) => ({
      name,
      ...chain,
      'node-urls': [url, ...(webSocketUrl === undefined ? [] : [{ url: webSocketUrl }])],
    })),
  }
}

/** The other nodes mine by themselves. */
async function mineUntilOver(site: NodeSite, nodes: [BtcdNode, BtcdNode]): Promise<void> {
  const { signal } = site
  try {
    for (;;) {
      await sleep(bitcoinBlockMs, undefined, { signal })
      await generate(site, nodes, 1)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
