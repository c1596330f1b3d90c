// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hostname } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { ByteBudget } from '../bytes/byte-budget.ts'
import type { ChainCatalog } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { formatAddress } from '../config/fields/address.ts'
import type { Address, EndpointConfig, RouterConfig } from '../config/types.ts'
import { until } from '../listener/listener.ts'
import type { ConfigState } from '../telemetry/config-state.ts'
import { createAdminServer, startAdmin } from '../telemetry/admin-server.ts'
import { createAccessLog } from '../telemetry/access-log.ts'
import { createEventLog } from '../telemetry/event-log.ts'
import { explainPage } from '../telemetry/explain/explain-page.ts'
import { CallHistory } from '../telemetry/explain/call-history.ts'
import { createFacts } from '../console/facts.ts'
import { Health } from '../telemetry/health.ts'
import { createLivePage } from '../console/live-page.ts'
import { Load } from '../telemetry/load.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { type Grown, RecentCounts } from '../telemetry/recent-counts.ts'
import { CallTroubles } from '../telemetry/call-trouble.ts'
import { Troubles } from '../telemetry/trouble.ts'
import type { CallSpans } from '../telemetry/otel/call-spans.ts'
import type { Recorder } from '../telemetry/record/recording.ts'
import { combineObservers } from '../telemetry/observers.ts'
import { type PreparedChain, type ServedChainContext, serveChains } from './served-chain.ts'
import type { Cooldown } from '../upstream/health.ts'
import { createCache, createSessions, type SharingOptions } from './stores.ts'

/** Dependencies that the process passes to its router. */
export interface RouterContext extends SharingOptions, Pick<ServedChainContext, 'guard'> {
  readonly catalog: ChainCatalog
  readonly version: string
  /** Which config is in use. */
  readonly state: ConfigState
  /** Null: no tracing. */
  readonly tracing: CallSpans | null
  /** Null: no recording. */
  readonly recorder: Recorder | null
  /** Null or absent unless this process is one of several workers. */
  readonly worker?: WorkerContext | null
}

/** What differs for a router that shares its addresses with others on this machine. */
export interface WorkerContext {
  /** The unix socket of its pages. */
  readonly pages: string
  cooldownBegan(cooldown: SharedCooldown): void
}

/** A cooldown of a URL, for other workers. */
export interface SharedCooldown {
  readonly chain: string
  readonly interface: string
  readonly upstream: string
  /** As printed, without keys. */
  readonly url: string
  readonly last: Cooldown['last']
}

/** A router: a pool per chain and interface, a listener per endpoint, and an admin server. */
export interface Router {
  /**
   * Opens every listener, then begins to verify upstreams.
   * @returns the actual address of each endpoint
   * @throws Error that names an address that cannot be bound
   */
  start(): Promise<ReadonlyMap<EndpointConfig, Address>>
  /** Settles once every upstream has been verified, whatever the result. */
  verified(): Promise<unknown>
  /** Begins a cooldown that another worker has observed. */
  adopt(cooldown: SharedCooldown): void
  /**
   * Prepares a config that differs only in live keys, and verifies its new upstreams. Changes
   * nothing yet.
   * @throws TlsFileError
   * @throws NobodyServes if the change would leave a served chain without upstreams
   */
  prepare(config: RouterConfig): Promise<PreparedConfig>
  /**
   * Fails readiness, drains calls in flight, and closes everything.
   * @param keepsIdle whether idle connections stay open for `drainTimeoutMs`, since a close loses a
   * request that is just being sent
   * @returns whether every call was answered within `drainTimeoutMs`
   */
  stop(keepsIdle: boolean): Promise<boolean>
}

/** A config that is ready to apply. */
export interface PreparedConfig {
  /** Applies it at once. Removed upstreams finish their calls. */
  commit(): void
  discard(): void
}

/** Maximum time a reload waits for its new upstreams, because one may hang. */
const maxVerificationMs = 5_000

/** The config would take down a chain that is being served. */
export class NobodyServes extends Error {
  override readonly name = 'NobodyServes'

  constructor(chains: readonly { readonly chainId: string; readonly apiInterface: string }[]) {
    const named = chains.map(({ chainId, apiInterface }) => `${chainId} ${apiInterface}`).join(', ')
    super(`none of its upstreams for ${named} can serve: see the log of each`)
  }
}

/** Share of the drain time during which listeners stay open. Calls in flight get the rest. */
const lingerShare = 0.6

/** Wires a router. Binds and sends nothing yet. @throws Error if a TLS file cannot be used */
export function createRouter(config: RouterConfig, context: RouterContext): Router {
  const { clock, logger, version, state, recorder, worker = null } = context
  // Node's heap limit follows the memory of the container.
  const heapBytes = getHeapStatistics().heap_size_limit
  const budget = new ByteBudget(config.maxBufferedBytes ?? Math.floor(heapBytes / 3))
  const health = new Health(clock, state, (shortage) =>
    logger.warn('the router lacks a resource', shortage),
  )
  const onCommand: SharingOptions['onCommand'] = (...command) =>
    metrics.storeCommandEnded(...command)
  const cache = createCache(config, { ...context, onCommand, health, budget })
  const metrics = createMetrics({
    ...{ version, budget, cache },
    config: state,
    resources: health.resources,
  })
  const log = createEventLog({ logger, clock })
  const calls = new CallHistory(clock)
  const isLogged = { now: config.accessLog }
  const observers = combineObservers([
    // Tracing comes first, because the log names the trace.
    ...(context.tracing ? [context.tracing] : []),
    ...[metrics, log, createAccessLog(logger, isLogged), health, health.resources],
    ...(config.metricsListenAddress ? [calls, health.clients] : []),
    ...(recorder ? [recorder] : []),
  ])
  recorder?.maskKeysOf(config)
  let draining = false
  const shared = createSessions(config, { ...context, metrics, onCommand, health })
  const { sessions, keys } = shared
  const isDraining = () => draining
  const heads = cache?.shared?.keys ?? keys
  const served = { ...context, observers, budget, cache, sessions, sent: keys, heads, isDraining }
  const chains = serveChains(config, served)
  const endpoints = chains.flatMap((chain) => chain.endpoints)
  for (const { chainId, apiInterface, pool } of chains) {
    const snapshot = () => pool.snapshot()
    metrics.registerPool(chainId, apiInterface, snapshot)
    health.register(`${chainId} ${apiInterface}`, snapshot)
    if (worker)
      pool.onCooldown = (upstream, url, last) =>
        worker.cooldownBegan({ chain: chainId, interface: apiInterface, upstream, url, last })
  }
  const troubles = new Troubles(clock, log.troubleChanged, (...of) => calls.methodOfTrouble(...of))
  const callTroubles = new CallTroubles(clock, metrics, log.methodChanged)
  const sampled = (grown: Grown) => {
    troubles.sampled(grown.recent, health.look())
    callTroubles.sampled(grown)
  }
  const counts = new RecentCounts(metrics, clock, sampled)
  health.counts = counts
  const load = new Load(clock, health.resources, budget)
  const facts = createFacts({
    ...{ counts, health, troubles, callTroubles, calls, config: state, clock },
    addresses: (chain, iface) =>
      chains
        .filter(({ chainId, apiInterface }) => chainId === chain && apiInterface === iface)
        .flatMap(({ endpoints: own }) => own.map((each) => formatAddress(each.config.address))),
  })
  const page =
    config.adminPage === 'off' || !config.metricsListenAddress || worker
      ? null
      : createLivePage(facts, clock, hostname())
  const admin =
    config.metricsListenAddress &&
    createAdminServer({
      address: config.metricsListenAddress,
      socket: worker?.pages ?? null,
      names: config.adminHosts,
      explain: (guid, query) => explainPage(calls, guid, query),
      ...{ metrics, health, facts, page, logger },
    })

  const closeAll = async () => {
    for (const each of [counts, load, ...chains.map(({ watch }) => watch)]) each.stop()
    await Promise.all(endpoints.map(({ listener }) => listener.close()))
    await admin?.close()
    for (const { subscriptions } of chains) subscriptions?.close()
    cache?.shared?.keys.close()
    for (const { pool } of chains) await pool.close()
    keys?.close()
  }

  return {
    async start() {
      const addresses = new Map<EndpointConfig, Address>()
      try {
        await startAdmin(admin, config.metricsListenAddress, logger)
        counts.start()
        load.start()
        for (const { chainId, apiInterface, endpoints: own } of chains)
          for (const { config: endpoint, listener } of own) {
            const address = await listener.start()
            log.listenerStarted(chainId, apiInterface, address)
            addresses.set(endpoint, address)
          }
      } catch (error) {
        await closeAll()
        throw error
      }
      shared.warn()
      if (budget.maxBytes > heapBytes)
        logger.warn('max-buffered-bytes is more than the heap of this process', {
          maxBufferedBytes: budget.maxBytes,
          heapBytes,
        })
      for (const { watch } of chains)
        watch.start((error) => {
          logger.error('watching an upstream failed', { error: error as Error })
        })
      return addresses
    },
    adopt({ chain, interface: iface, upstream, url, last }) {
      const served = chains.find((each) => each.chainId === chain && each.apiInterface === iface)
      served?.pool.adopt(upstream, url, last)
    },
    verified: () => Promise.all(chains.map(({ watch }) => watch.firstRound)),
    async prepare(next) {
      const prepared: PreparedChain[] = []
      const discard = () => {
        for (const each of prepared) each.discard()
      }
      try {
        for (const chain of chains) prepared.push(chain.prepare(next))
        const verified = prepared.map((each) => each.verify().then(() => {}))
        await within(clock, maxVerificationMs, verified)
        const ended = chains.filter((_, at) => prepared[at]?.wouldEnd())
        if (ended.length > 0) throw new NobodyServes(ended)
      } catch (error) {
        discard()
        throw error
      }
      return {
        discard,
        commit() {
          if (draining) return
          recorder?.maskKeysOf(next)
          for (const each of prepared) each.commit()
          isLogged.now = next.accessLog
        },
      }
    },
    async stop(keepsIdle) {
      draining = true
      health.drain()
      const untilMs = clock.nowMs() + config.drainTimeoutMs
      const listeners = endpoints.map(({ listener }) => listener)
      const isAnswered = () => !listeners.some(({ isServing }) => isServing)
      // Answers tell clients to close; new connections are still served for a while.
      const drains = keepsIdle ? listeners.map((each) => each.drain()) : []
      await within(clock, config.drainTimeoutMs * lingerShare, drains)
      const settled = listeners.map((each) => each.settle())
      const ends = keepsIdle ? settled : [until(clock, isAnswered)]
      await within(clock, untilMs - clock.nowMs(), ends)
      const answered = isAnswered()
      await closeAll()
      return answered
    },
  }
}

/** Whether all work completed within the time. */
async function within(clock: Clock, ms: number, work: readonly Promise<void>[]): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  // Work that only needs an event-loop turn is finished by then.
  const cancel = clock.after(ms, () => setImmediate(() => resolve(false)))
  const done = await Promise.race([Promise.all(work).then(() => true), late])
  cancel()
  return done
}
