// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomUUID } from 'node:crypto'
import type { ChainCatalog } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { EndpointConfig, RouterConfig } from '../config/types.ts'
import { createJsonRpcListener } from '../listener/jsonrpc.ts'
import type { Listener } from '../listener/listener.ts'
import { createRelay } from '../relay/pipeline.ts'
import type { Observers } from '../telemetry/observers.ts'
import { createPool } from '../upstream/create-pool.ts'
import { createHttpTransport } from '../upstream/http-transport.ts'
import type { Pool } from '../upstream/pool.ts'
import { Watch } from '../upstream/watch.ts'

/** One endpoint of the config, wired: its listener, its pool, and the watch over the pool. */
export interface ServedEndpoint {
  readonly config: EndpointConfig
  readonly listener: Listener
  readonly pool: Pool
  readonly watch: Watch
}

export interface ServedEndpointParts {
  readonly catalog: ChainCatalog
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  readonly observers: Observers
}

/** Wires one endpoint. Nothing is bound or sent yet. @throws Error when a TLS file cannot be used */
export function serveEndpoint(
  config: EndpointConfig,
  router: RouterConfig,
  parts: ServedEndpointParts,
): ServedEndpoint {
  const { catalog, clock, random, version, observers } = parts
  const { chainId, apiInterface } = config
  const chain = catalog.find(chainId)
  const iface = chain?.interfaces.get(apiInterface)
  // The config was checked against the catalog before anything is wired.
  if (!chain || !iface) throw new Error(`no spec for ${chainId} through ${apiInterface}`)
  const poolObserver = observers.poolObserver(chainId, apiInterface)
  const pool = createPool(
    router.upstreams.filter(
      (upstream) =>
        catalog.find(upstream.chainId) === chain && upstream.apiInterface === apiInterface,
    ),
    {
      chain,
      iface,
      strategy: config.relay.strategy,
      maxSessions: router.maxSessionsPerUpstream,
      clock,
      random,
      observer: poolObserver,
      failureThreshold: router.upstreamFailureThreshold,
      createTransport: createHttpTransport,
    },
  )
  const relay = createRelay({
    chain,
    pool,
    config: config.relay,
    clock,
    observer: observers.relayObserver(chainId, apiInterface),
    poolObserver,
  })
  const listener = createJsonRpcListener({
    address: config.address,
    iface,
    relay,
    clock,
    observer: observers.listenerObserver(chainId, apiInterface),
    maxRequestBytes: router.maxRequestBytes,
    version,
    newGuid: randomUUID,
    health: () => pool.hasEligible,
  })
  const watch = new Watch({
    ...router,
    pool,
    iface,
    blockTimeMs: chain.blockTimeMs,
    clock,
    random,
    observer: poolObserver,
  })
  return { config, listener, pool, watch }
}
