// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RouterConfig } from '../config/types.ts'
import { createAdminServer } from '../telemetry/admin-server.ts'
import { createEventLog } from '../telemetry/event-log.ts'
import { createHealth } from '../telemetry/health.ts'
import type { Logger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { combineObservers } from '../telemetry/observers.ts'
import { serveChains } from './served-chain.ts'

/** What the process hands to the router that it runs. */
export interface RouterParts {
  readonly catalog: ChainCatalog
  readonly logger: Logger
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  /** Hears of bytes of big answers that have passed. */
  readonly streamed: (bytes: number) => void
}

/** A whole router: a pool per chain and interface, a listener per endpoint, and the admin server. */
export interface Router {
  /** Opens every listener, then begins to verify upstreams. @throws Error naming an address that cannot be bound */
  start(): Promise<void>
  /**
   * Fails readiness, lets calls in flight end, closes everything.
   * @returns whether every call was answered before `drainTimeoutMs` was over
   */
  stop(): Promise<boolean>
}

/** Wires a router. Nothing is bound or sent yet. @throws Error when a TLS file cannot be used */
export function createRouter(config: RouterConfig, parts: RouterParts): Router {
  const { clock, logger, version } = parts
  const metrics = createMetrics({ version, clock })
  const log = createEventLog({ logger, clock })
  const observers = combineObservers([metrics, log])
  const health = createHealth({ clock })
  const chains = serveChains(config, { ...parts, observers })
  const endpoints = chains.flatMap((chain) => chain.endpoints)
  for (const { chainId, apiInterface, pool } of chains) {
    const snapshot = () => pool.snapshot()
    metrics.registerPool(chainId, apiInterface, snapshot)
    health.register(chainId, apiInterface, snapshot)
  }
  const admin =
    config.metricsListenAddress &&
    createAdminServer({ address: config.metricsListenAddress, metrics, health, logger })

  const closeAll = async () => {
    for (const { watch } of chains) watch.stop()
    await Promise.all(endpoints.map(({ listener }) => listener.close()))
    await admin?.close()
    for (const { pool } of chains) await pool.close()
  }

  return {
    async start() {
      try {
        await admin?.start()
        for (const { chainId, apiInterface, endpoints: own } of chains)
          for (const { listener } of own)
            log.listenerStarted(chainId, apiInterface, await listener.start())
      } catch (error) {
        await closeAll()
        throw error
      }
      for (const { watch } of chains)
        watch.start((error) => {
          logger.error('watching an upstream failed', { error: error as Error })
        })
    },
    async stop() {
      health.drain()
      const drained = Promise.all(endpoints.map(({ listener }) => listener.drain())).then(
        () => true,
      )
      const { promise: late, resolve } = Promise.withResolvers<boolean>()
      const cancel = clock.after(config.drainTimeoutMs, () => {
        resolve(false)
      })
      const answered = await Promise.race([drained, late])
      cancel()
      await closeAll()
      return answered
    },
  }
}
