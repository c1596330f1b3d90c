// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { stringify } from 'yaml'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import type { ChainCatalog } from '../../proxy/chain/types.ts'
import { seededRandom } from '../../proxy/clock/random.ts'
import { systemClock } from '../../proxy/clock/system-clock.ts'
import { serveChains } from '../../proxy/cli/served-chain.ts'
import { parseConfig } from '../../proxy/config/parse.ts'
import { combineObservers } from '../../proxy/telemetry/observers.ts'
import type { SimNode } from '../upstream-sim/sim-node.ts'

export interface ServedRouterOptions {
  readonly primaries: readonly Pick<SimNode, 'name' | 'url'>[]
  readonly backups?: readonly Pick<SimNode, 'name' | 'url'>[]
  /** Settings of the config file, by their names there. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Of each node's URL, by its name: `addons`, `timeout` and so on. */
  readonly urlSettings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** A router in this process, on a real socket, with the machine's clock. */
export interface ServedRouter extends AsyncDisposable {
  readonly url: string
}

let catalog: Promise<ChainCatalog> | null = null

/**
 * Serves ETH1 as `router` does, and waits until every upstream was verified once, whatever came of
 * it. Upstreams take turns in the order of the file, so that it is certain who is asked first.
 */
export async function serveRouter(options: ServedRouterOptions): Promise<ServedRouter> {
  const { primaries, backups = [], settings = {}, urlSettings = {} } = options
  const upstreamOf = ({ name, url }: Pick<SimNode, 'name' | 'url'>) => ({
    name,
    'chain-id': 'ETH1',
    'api-interface': 'jsonrpc',
    'node-urls': [{ url, ...urlSettings[name] }],
  })
  const text = stringify({
    endpoints: [
      { 'network-address': '127.0.0.1:0', 'chain-id': 'ETH1', 'api-interface': 'jsonrpc' },
    ],
    'direct-rpc': primaries.map(upstreamOf),
    ...(backups.length > 0 ? { 'backup-direct-rpc': backups.map(upstreamOf) } : {}),
    strategy: 'round-robin',
    ...settings,
  })
  const { config, problems } = parseConfig(
    { name: 'router.yml', text },
    { environment: {}, flags: {} },
  )
  if (!config) throw new Error(problems.map(({ message }) => message).join('\n'))
  catalog ??= loadCatalog(config.specSources)
  const [served] = serveChains(config, {
    catalog: await catalog,
    clock: systemClock,
    random: seededRandom(1),
    version: 'under-test',
    observers: combineObservers([]),
    streamed: () => {},
  })
  const [endpoint] = served?.endpoints ?? []
  if (!served || !endpoint) throw new Error('one listener was configured, and none is there')
  const { pool, watch } = served
  const { listener } = endpoint
  const { host, port } = await listener.start()
  watch.start((error) => {
    throw error
  })
  await watch.firstRound
  return {
    url: `http://${host}:${port}`,
    async [Symbol.asyncDispose]() {
      watch.stop()
      await listener.close()
      await pool.close()
    },
  }
}
