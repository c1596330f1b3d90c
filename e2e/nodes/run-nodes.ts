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
import { type Leg, routerConfig } from '../processes/router-config.ts'
import type { WasmdNode } from './wasmd.ts'

const blockSeconds = 1
const bitcoinBlockMs = 10_000

/**
 * Starts every kind of node with mining, and prints their URLs and a router config for them. All
 * nodes end when the signal is aborted.
 */
export async function runNodes(signal: AbortSignal, say: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'rpc-router-nodes-'))
  try {
    await using children = new ChildProcesses(directory)
    const site: NodeSite = { cache: builtNodes(process.env), children, directory, signal }
    say('starting the nodes ...')
    const started = await startAll(site)
    for (const { chainId, apiInterface, nodes } of started.legs) {
      say(`  ${chainId} ${apiInterface}`)
      for (const { name, urls } of nodes)
        say(`    ${name.padEnd(12)} ${urls.map(({ url }) => url).join('  ')}`)
    }
    say(
      `  a chain of its own, id 1337; not in the config below\n    geth         ${started.gethUrls}`,
    )
    const file = join(directory, 'router.yml')
    const text = stringify({
      ...routerConfig(started.legs),
      'metrics-listen-address': '127.0.0.1:7779',
    })
    await writeFile(file, text, { mode: 0o600 })
    say(`\n${text}\nThis config is in ${file}. In another terminal:\n`)
    say(`  npx router ${file}\n\nThe nodes run until Ctrl-C.`)
    await mineUntilOver(site, started.bitcoin)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Started {
  /** Listeners on the documented ports. */
  readonly legs: readonly Leg[]
  readonly gethUrls: string
  readonly bitcoin: [BtcdNode, BtcdNode]
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
  const hubLeg = (
    at: number,
    apiInterface: Leg['apiInterface'],
    urlsOf: (node: WasmdNode) => readonly string[],
  ): Leg => ({
    ...{ port: at, chainId: 'HUBCHAIN', apiInterface },
    nodes: [hub, follower].map((node) => ({
      name: node.name,
      urls: urlsOf(node).map((url) => ({ url })),
    })),
  })
  const jsonRpc = (at: number, chainId: string, nodes: Leg['nodes']): Leg => ({
    ...{ port: at, chainId, apiInterface: 'jsonrpc', nodes },
  })
  const legs = [
    jsonRpc(3360, 'ETH1', [
      { name: 'anvil', urls: [{ url: anvil.url }, { url: anvil.webSocketUrl }] },
    ]),
    jsonRpc(
      3362,
      'BTC-REGTEST',
      bitcoin.map(({ name, url, authorization }) => ({
        name,
        urls: [{ url, 'auth-config': { 'auth-headers': { authorization } } }],
      })),
    ),
    jsonRpc(3363, 'PERPEVM', [{ name: 'anvil-999', urls: [{ url: perp.url }] }]),
    hubLeg(3364, 'rest', ({ restUrl }) => [restUrl]),
    hubLeg(3365, 'tendermintrpc', (node) => [node.tendermintUrl, node.webSocketUrl]),
    hubLeg(3366, 'grpc', ({ grpcAddress }) => [`grpc://${grpcAddress}`]),
  ]
  return { legs, bitcoin, gethUrls: `${geth.url}  ${geth.webSocketUrl}` }
}

/** Mines on the nodes that do not mine on their own. */
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
