// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import type { Chain, ChainInterface } from '../../proxy/chain/types.ts'
import { Secret } from '../../proxy/config/secret.ts'
import type { NodeUrlConfig, UpstreamConfig } from '../../proxy/config/types.ts'
import { nothingBuilt, type Built } from '../upstream-sim/chain-model.ts'
import { chainSeed } from './chain-growth.ts'
import type { NodePlan, UrlPlan } from './schedule.ts'

/** The chain that is simulated, from the bundled specs. */
export interface Spec {
  readonly chain: Chain
  readonly iface: ChainInterface
  /** What one schedule built of the chain need not be built for the next one. */
  readonly built: Built
}

/** Ethereum as the bundled specs have it. */
export async function loadSpec(): Promise<Spec> {
  const chain = (await loadCatalog([])).find('ETH1')
  const iface = chain?.interfaces.get('jsonrpc')
  if (!chain || !iface) throw new Error('the bundled specs lack ETH1')
  return { chain, iface, built: nothingBuilt(chainSeed) }
}

/** What the engine prints of a URL: it tells URLs apart, here and in what it reports. */
export function printableOf(node: Pick<NodePlan, 'name'>, url: number): string {
  return `http://${node.name}-${url}.test`
}

/** The config of an upstream as the parser would give it. */
export function configOf(node: NodePlan, chain: Chain): UpstreamConfig {
  return {
    name: node.name,
    tier: node.tier,
    chainId: chain.id,
    apiInterface: 'jsonrpc',
    groupLabel: null,
    nodeUrls: node.urls.map((plan, index) => urlConfigOf(plan, printableOf(node, index))),
  }
}

/** The config of one URL as the parser would give it. */
export function urlConfigOf({ timeoutMs, addons }: UrlPlan, printable: string): NodeUrlConfig {
  return {
    url: new Secret(printable, printable),
    scheme: 'http',
    timeoutMs,
    maxBatch: 1,
    addons,
    // The add-on's own verification asks for a method that every simulated node has.
    skipVerifications: [],
    authHeaders: new Map(),
    authQuery: new Map(),
    tls: null,
  }
}
