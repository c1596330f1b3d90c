// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { stringify } from 'yaml'
import { ByteBudget } from '../../proxy/bytes/byte-budget.ts'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import type { ChainCatalog } from '../../proxy/chain/types.ts'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { patientClock } from '../../proxy/clock/testing/patient-clock.ts'
import { privateSessions } from '../../proxy/sticky/testing/private-sessions.ts'
import type { SharedFigures } from '../../proxy/cache/shared-cache.ts'
import { createCache, loadStores } from '../../proxy/router/stores.ts'
import { serveChains } from '../../proxy/router/served-chain.ts'
import { until, type Listener } from '../../proxy/listener/listener.ts'
import type { Pool } from '../../proxy/upstream/pool.ts'
import type { ApiInterface } from '../../proxy/config/types.ts'
import { parseConfig } from '../../proxy/config/parse.ts'
import { createLogger } from '../../proxy/telemetry/log.ts'
import { combineObservers } from '../../proxy/telemetry/observers.ts'
import type { CallSpans } from '../../proxy/telemetry/otel/call-spans.ts'
import { longEpoch, routerConfig } from '../processes/router-config.ts'

export interface ServedNode {
  readonly name: string
  readonly url: string
  /** URL for retries when the first fails. */
  readonly nextUrl?: string
}

export interface ServedRouterOptions {
  /** Default: ETH1. */
  readonly chainId?: string
  /** Default: `jsonrpc`. */
  readonly apiInterface?: ApiInterface
  /** Spec sources instead of the bundled ones. */
  readonly specSources?: readonly string[]
  /** Chains loaded earlier, instead of spec sources. */
  readonly catalog?: ChainCatalog
  readonly primaries: readonly ServedNode[]
  readonly backups?: readonly ServedNode[]
  /** Adds the WebSocket URLs of the nodes. */
  readonly sockets?: boolean
  /** Settings as in the config file. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** URL settings such as `addons` and `timeout`, by the name of the node. */
  readonly urlSettings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Settings of the endpoint. */
  readonly endpoint?: Readonly<Record<string, unknown>>
  /** Settings of upstreams other than their URLs, by the name of the node. */
  readonly upstreamSettings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Destination of spans. Default: none. */
  readonly tracing?: CallSpans
  readonly observers?: Parameters<typeof combineObservers>[0]
  /** Environment variables for placeholders in the config. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A router in this process, with real sockets and the machine's clock. */
export interface ServedRouter extends AsyncDisposable {
  readonly url: string
  readonly socketUrl: string
  readonly port: number
  readonly pool: Pool
  readonly listener: Listener
  /** Bytes buffered for clients. */
  readonly budget: ByteBudget
  /** Figures of the shared cache; null without one. */
  readonly storeFigures: SharedFigures | null
}

/** Disables the cache, for tests that count requests to nodes or change the answers of nodes. */
export const uncached = { 'cache-bytes': '0' } as const

const catalogs = new Map<string, Promise<ChainCatalog>>()

/**
 * Serves a chain as `router` does, and waits until every upstream was verified once, whatever the
 * result. The round-robin strategy makes the first selected upstream known.
 */
export async function serveRouter(options: ServedRouterOptions): Promise<ServedRouter> {
  const { primaries, backups = [], settings = {}, urlSettings = {}, specSources = [] } = options
  const { chainId = 'ETH1', apiInterface = 'jsonrpc', sockets = false } = options
  const withUrls = ({ name, url, nextUrl = '' }: ServedNode) => {
    const all = [url, sockets ? url.replace(/^http/, 'ws') : '', nextUrl].filter(Boolean)
    return { name, urls: all.map((each) => ({ url: each, ...urlSettings[name] })) }
  }
  const nodes = { nodes: primaries.map(withUrls), backups: backups.map(withUrls) }
  const file = routerConfig([{ chainId, apiInterface, ...nodes }])
  const text = stringify({
    ...file,
    endpoints: file.endpoints.map((each) => ({ ...each, ...options.endpoint })),
    'direct-rpc': file['direct-rpc'].map((each) => ({
      ...each,
      ...options.upstreamSettings?.[each.name],
    })),
    strategy: 'round-robin',
    'epoch-duration': longEpoch(),
    ...settings,
  })
  const { config, problems } = parseConfig(text, {
    environment: options.environment ?? {},
    flags: {},
  })
  if (!config) throw new Error(problems.map(({ message }) => message).join('\n'))
  const budget = new ByteBudget(Infinity)
  const logger = createLogger({ level: 'error', format: 'json', redact: (text) => text })
  const random = seededRandom(1)
  const stores = await loadStores(config)
  const cache = createCache(config, { clock: patientClock, random, budget, logger, stores })
  const [chain] = serveChains(config, {
    catalog: options.catalog ?? (await catalogOf(specSources)),
    clock: patientClock,
    random,
    version: 'under-test',
    observers: combineObservers([options.tracing ?? [], options.observers ?? []].flat()),
    tracing: options.tracing ?? null,
    budget,
    cache,
    isDraining: () => false,
    sessions: privateSessions(patientClock),
  })
  const [endpoint] = chain?.endpoints ?? []
  if (!chain || !endpoint) throw new Error('the configured listener is missing')
  const { pool, watch, subscriptions } = chain
  const { listener } = endpoint
  const { host, port } = await listener.start()
  watch.start((error) => {
    throw error
  })
  await watch.firstRound
  return {
    url: `http://${host}:${port}`,
    socketUrl: `ws://${host}:${port}`,
    port,
    pool,
    listener,
    budget,
    storeFigures: cache?.shared?.figures ?? null,
    async [Symbol.asyncDispose]() {
      watch.stop()
      await listener.close()
      subscriptions?.close()
      await pool.close()
      cache?.shared?.keys.close()
      await until(patientClock, () => budget.heldBytes === 0, 2_000)
      if (budget.heldBytes !== 0) throw new Error(`${budget.heldBytes} bytes leaked`)
    },
  }
}

/** Loads the same sources once per process, since that takes longer than the rest of a start. */
function catalogOf(specSources: readonly string[]): Promise<ChainCatalog> {
  return catalogs.getOrInsertComputed(specSources.join('\n'), () => loadCatalog(specSources))
}
