// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface } from '../../proxy/chain/types.ts'
import type { Clock } from '../../proxy/clock/clock.ts'
import type { NodeUrlConfig, UpstreamConfig } from '../../proxy/config/types.ts'
import type { RelayObserver } from '../../proxy/relay/call.ts'
import { createRelay, type Relay, withWake } from '../../proxy/relay/relay.ts'
import { dialects } from '../../proxy/upstream/dialect.ts'
import type { PoolObserver } from '../../proxy/upstream/observer.ts'
import { ChainTracker } from '../../proxy/tracker/chain-tracker.ts'
import { createPool, type Pool } from '../../proxy/upstream/pool.ts'
import { nodeUrlConfig } from '../../proxy/upstream/testing/node-url-config.ts'
import type { SocketTransport } from '../../proxy/upstream/wire.ts'
import { Watch } from '../../proxy/upstream/watch.ts'
import { Dice } from './dice.ts'
import type { NodePlan, Settings } from './schedule.ts'
import { SimulatedUrl, type Wire } from './simulated-url.ts'

export interface Spec {
  readonly chain: Chain
  readonly iface: ChainInterface
}

/** A URL as the engine prints it, which is its key here and in reports. */
export function printableOf({ name }: Pick<NodePlan, 'name'>, url: number | 'socket'): string {
  return `${url === 'socket' ? 'ws' : 'http'}://${name}-${url}.test`
}

export interface EngineOptions {
  readonly seed: number
  readonly settings: Settings
  readonly nodes: readonly (NodePlan & { readonly socket?: object | null })[]
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly clock: Clock
  readonly wire: Wire
  readonly poolObserver: PoolObserver
  readonly relayObserver: RelayObserver
  /** Returns the socket of a printed URL. */
  readonly createSocket?: (printable: string) => SocketTransport
}

/** The real pool, relay and watch over simulated URLs. */
export function createEngine(options: EngineOptions): {
  readonly pool: Pool
  readonly relay: Relay
  readonly watch: Watch
} {
  const { seed, settings, nodes, chain, iface, clock, wire, poolObserver, relayObserver } = options
  const random = new Dice(seed, 2)
  const transports = new Map<string, SimulatedUrl>()
  for (const node of nodes)
    for (const [url, plan] of node.urls.entries()) {
      const target = { upstream: node.name, url, printable: printableOf(node, url) }
      // The stream depends on the name alone, so other nodes do not affect the draws.
      const dice = new Dice(seed, 100 + Number(node.name.slice('node-'.length)) * 10 + url)
      transports.set(target.printable, new SimulatedUrl(target, plan, wire, dice))
    }
  const pool = createPool(
    nodes.map((node) => configOf(node, chain)),
    {
      chain,
      iface,
      tracker: new ChainTracker({ chain, clock }),
      clock,
      random,
      observer: poolObserver,
      config: { now: settings.relay },
      maxSessions: settings.maxSessions,
      failureThreshold: settings.failureThreshold,
      createTransport: ({ url }) => transports.get(url.toString())!,
      createSocketTransport: ({ url }) => options.createSocket!(url.toString()),
    },
  )
  const dialect = dialects.jsonrpc
  const relay = createRelay({
    chain,
    dialect,
    pool,
    clock,
    config: { now: settings.relay },
    selectionStats: false,
    observer: relayObserver,
  })
  const watch = new Watch({
    ...settings,
    pool,
    iface,
    dialect,
    chain,
    clock,
    random,
    observer: poolObserver,
  })
  return { pool, relay: withWake(relay, watch), watch }
}

/** The config of an upstream, as the parser returns it. */
function configOf(node: EngineOptions['nodes'][number], chain: Chain): UpstreamConfig {
  const { name, tier } = node
  const nodeUrls: NodeUrlConfig[] = node.urls.map(({ timeoutMs, addons }, at) =>
    nodeUrlConfig(printableOf(node, at), { timeoutMs, addons, maxBatch: 1 }),
  )
  if (node.socket) nodeUrls.push(nodeUrlConfig(printableOf(node, 'socket'), { maxBatch: 1 }))
  const chainId = chain.id
  return { name, tier, chainId, apiInterface: 'jsonrpc', nodeUrls }
}
