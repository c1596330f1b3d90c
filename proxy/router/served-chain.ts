// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt, randomUUID } from 'node:crypto'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { type CacheOptions, withCache } from '../cache/cache.ts'
import { lifetimesOf } from '../cache/retention.ts'
import { MethodRule } from '../chain/method-rule.ts'
import type { Chain, ChainCatalog, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type {
  ApiInterface,
  EndpointConfig,
  Live,
  RelayConfig,
  RouterConfig,
} from '../config/types.ts'
import { withCrossValidation } from '../cross-validation/cross-validation.ts'
import { withFilters } from '../filters/filters.ts'
import { ClientAddresses } from '../listener/client-address.ts'
import { createGrpcListener } from '../listener/grpc.ts'
import { createJsonRpcListener } from '../listener/jsonrpc.ts'
import { makeOwnCall } from '../listener/jsonrpc/jsonrpc-call.ts'
import type { Listener, ListenerOptions, SubscriptionServing } from '../listener/listener.ts'
import { withMethodRule } from '../listener/served-methods.ts'
import { createRestListener } from '../listener/rest.ts'
import { createTendermintListener } from '../listener/tendermint.ts'
import { RangeLimits } from '../logs/limits.ts'
import { withLogs } from '../logs/logs.ts'
import type { SliceMemory } from '../logs/slices.ts'
import { KnownTransactions, type SentStore } from '../relay/known-transactions.ts'
import { createRelay, type Relay, withWake } from '../relay/relay.ts'
import type { TraceHeaders } from '../relay/traced-request.ts'
import type { Sessions } from '../sticky/sessions.ts'
import { withStickiness } from '../sticky/stickiness.ts'
import { createAsk } from '../subscription/ask.ts'
import { familyOf } from '../subscription/family-of.ts'
import { subscriptionFormOf } from '../subscription/form-of.ts'
import { Hub, type HubOptions } from '../subscription/hub.ts'
import type { Observers } from '../telemetry/observers.ts'
import type { CallSpans } from '../telemetry/otel/call-spans.ts'
import { ChainTracker } from '../tracker/chain-tracker.ts'
import { dialects } from '../upstream/dialect.ts'
import type { PoolObserver } from '../upstream/observer.ts'
import { createPool, type Pool, type PoolOptions } from '../upstream/pool.ts'
import { type HeadStore, SharedHeads } from '../upstream/shared-heads.ts'
import { Watch } from '../upstream/watch.ts'
import { createGrpcTransport } from '../upstream/wire/grpc/grpc-transport.ts'
import { BatchingTransport } from '../upstream/wire/http/batching-transport.ts'
import { createHttpTransport } from '../upstream/wire/http/http-transport.ts'
import { createWebSocketTransport } from '../upstream/wire/ws/ws-transport.ts'

/** Creates the listener of each interface. */
const listeners: Readonly<Record<ApiInterface, (options: ListenerOptions) => Listener>> = {
  jsonrpc: createJsonRpcListener,
  tendermintrpc: createTendermintListener,
  rest: createRestListener,
  grpc: createGrpcListener,
}

export interface ServedChainContext {
  readonly catalog: ChainCatalog
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  readonly observers: Observers
  readonly budget: ByteBudget
  readonly sessions: Sessions
  /** Where replicas share sent transactions; null: each replica has its own. */
  readonly sent?: SentStore | null
  /** Where replicas share polled heads; null: each replica polls on its own. */
  readonly heads?: HeadStore | null
  /** Stores for answers; null: no cache. */
  readonly cache: (Pick<CacheOptions, 'store' | 'shared'> & { slices: SliceMemory }) | null
  /** Null or absent: no tracing. */
  readonly tracing?: Pick<CallSpans, 'traceHeaders'> | null
  /** Whether the stop has begun, so that `GET /health` sends clients elsewhere. */
  readonly isDraining: () => boolean
  /** Present if other workers listen on the addresses too. */
  readonly worker?: object | null
  /** Wraps the relay that listeners call; absent: unwrapped. */
  readonly guard?: (relay: Relay) => Relay
}

/** A listener in the config, and its chain. */
export interface ServedEndpoint {
  readonly config: EndpointConfig
  readonly listener: Listener
}

/**
 * One chain through one interface: its pool of upstreams, their monitoring, and all of its
 * listeners.
 */
export interface ServedChain {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly pool: Pool
  readonly watch: Watch
  /** Null if the chain has no subscriptions. */
  readonly subscriptions: (SubscriptionServing & { close(): void }) | null
  readonly endpoints: readonly ServedEndpoint[]
  /** Prepares another config with the same listeners. Changes nothing yet. @throws TlsFileError */
  prepare(config: RouterConfig): PreparedChain
}

/** This chain's part of another config, ready to apply. */
export interface PreparedChain {
  /** Settles once every new upstream has been verified, whatever the result. */
  verify(): Promise<unknown>
  /** Whether none of its upstreams can serve while a current one can. */
  wouldEnd(): boolean
  /** Applies the part immediately. */
  commit(): void
  discard(): void
}

/** The parts of a chain's config that a reload replaces. */
function liveOf(
  { endpoints, upstreams, policies, cache, verifyLogs }: RouterConfig,
  chain: Chain,
  apiInterface: ApiInterface,
  catalog: ChainCatalog,
) {
  const isOwn = (each: { readonly chainId: string; readonly apiInterface: ApiInterface }) =>
    catalog.find(each.chainId) === chain && each.apiInterface === apiInterface
  const validations = policies.filter(isOwn)
  const mandatory = validations.filter(({ agreement }) => agreement > 0)
  const keeping = cache.policies.filter((each) =>
    isOwn({ chainId: each.chainId ?? chain.id, apiInterface: each.apiInterface ?? apiInterface }),
  )
  return {
    endpoints: endpoints.filter(isOwn),
    upstreams: upstreams.filter(isOwn),
    policies: {
      validations: new Map(validations.map((policy) => [policy.method, policy])),
      crossValidated: new Set(mandatory.map(({ method }) => method)),
      lifetimes: lifetimesOf(keeping, chain.blockTimeMs),
      verifyLogs,
    },
  }
}

/** Transports to the upstreams of an interface. */
export function transportsOf(
  apiInterface: ApiInterface,
  { clock, budget, version }: Pick<ServedChainContext, 'clock' | 'budget' | 'version'>,
): Pick<PoolOptions, 'createTransport' | 'createSocketTransport'> {
  const create = apiInterface === 'grpc' ? createGrpcTransport : createHttpTransport
  const userAgent = `rpc-router/${version}`
  return {
    createTransport: (url) => {
      const transport = create(url, { clock, userAgent, budget })
      return url.maxBatch > 1
        ? new BatchingTransport(transport, url.maxBatch, { clock, budget })
        : transport
    },
    createSocketTransport: (url) =>
      createWebSocketTransport(url, {
        clock,
        userAgent,
        // Nodes accept this many; Tendermint's default is five.
        subscriptionsPerConnection: apiInterface === 'tendermintrpc' ? 5 : 100,
      }),
  }
}

/** Wires every chain of the config. Binds and sends nothing yet. @throws TlsFileError */
export function serveChains(
  config: RouterConfig,
  context: ServedChainContext,
): readonly ServedChain[] {
  const groups = Map.groupBy(
    config.endpoints,
    ({ chainId, apiInterface }) => `${context.catalog.find(chainId)?.id} ${apiInterface}`,
  )
  const trackers = new Map<Chain, ChainTracker>()
  const { clock } = context
  const trackerOf = (chain: Chain, observer: PoolObserver) =>
    trackers.getOrInsertComputed(chain, () => {
      return new ChainTracker({ chain, clock, reorged: (reorg) => observer.reorged?.(reorg) })
    })
  return [...groups.values()].map((endpoints) => serveChain(endpoints, config, context, trackerOf))
}

function serveChain(
  configs: readonly EndpointConfig[],
  router: RouterConfig,
  context: ServedChainContext,
  trackerOf: (chain: Chain, observer: PoolObserver) => ChainTracker,
): ServedChain {
  const { catalog, clock, random, observers, budget, cache, guard = (relay) => relay } = context
  const served = configs.map((config) => ({
    config,
    relaying: { now: config.relay },
    rule: { now: null as MethodRule | null },
  }))
  const [first] = served
  if (!first) throw new Error('a chain is served by one listener at least')
  const { chainId: anyName, apiInterface } = first.config
  const chain = catalog.find(anyName)
  const iface = chain?.interfaces.get(apiInterface)
  // The config was checked against the catalog before anything was wired.
  if (!chain || !iface) throw new Error(`no spec for ${anyName} through ${apiInterface}`)
  const ruleOf = ({ methods }: EndpointConfig) => methods && new MethodRule(methods, iface)
  for (const { config, rule } of served) rule.now = ruleOf(config)
  // Uses the spec's spelling, so that each chain has only one metric label.
  const chainId = chain.id
  const poolObserver = observers.poolObserver(chainId, apiInterface)
  const live = (config: RouterConfig) => liveOf(config, chain, apiInterface, catalog)
  const { upstreams, ...atStart } = live(router)
  const policies = { now: atStart.policies }
  const pool = createPool(upstreams, {
    chain,
    iface,
    tracker: trackerOf(chain, poolObserver),
    config: first.relaying,
    maxSessions: router.maxSessionsPerUpstream,
    clock,
    random,
    observer: poolObserver,
    failureThreshold: router.upstreamFailureThreshold,
    epochDurationMs: router.epochDurationMs,
    ...transportsOf(apiInterface, context),
  })
  const watch = new Watch({
    ...router,
    pool,
    iface,
    dialect: dialects[apiInterface],
    chain,
    clock,
    random,
    observer: poolObserver,
    heads: context.heads
      ? new SharedHeads(context.heads, `${chainId}:${apiInterface}`, Boolean(context.worker))
      : null,
  })
  const limits = new RangeLimits(pool)
  // Answers that were checked differently are cached apart.
  const slicesFor = (integrity: string) => {
    if (cache === null) return null
    const scope = `${chainId} ${apiInterface} logs ${integrity}`
    const { slices: memory, shared } = cache
    const store = shared?.share(scope, clock, () => {}) ?? null
    return { memory, shared: store, clock, scope, pending: new Map() }
  }
  const relayFor = (config: Live<RelayConfig>, traceHeaders: TraceHeaders | null = null) => {
    const observer = observers.relayObserver(chainId, apiInterface)
    const relay = createRelay({
      chain,
      dialect: dialects[apiInterface],
      pool,
      config,
      selectionStats: router.enableSelectionStats,
      clock,
      observer,
      traceHeaders,
      known: new KnownTransactions(context.sent, `${chainId}:${apiInterface}`),
    })
    const split = withLogs(relay, {
      ...{ chain, pool, clock, random, budget, config, policies, limits },
      observer,
      slices: slicesFor(config.now.integrity),
    })
    const filtered = withFilters(split, { chain, pool })
    const sticky = withStickiness(filtered, {
      ...{ chainId, apiInterface, pool, config, clock },
      sessions: context.sessions,
    })
    return withCrossValidation(sticky, {
      ...{ chain, iface, pool, clock, budget, config, policies },
      observer: observers.crossValidationObserver(chainId, apiInterface),
    })
  }
  const cachedRelayFor = (config: Live<RelayConfig>, index: number) => {
    const relay = relayFor(config, context.tracing?.traceHeaders(chainId, apiInterface))
    if (cache === null) return relay
    const dialect = dialects[apiInterface]
    // Listeners check answers differently, so each has its own cache scope.
    const scope = `${index} ${config.now.integrity}`
    return withCache(relay, {
      ...{ chain, iface, pool, dialect, clock, policies, scope },
      turns: budget.turns,
      ...cache,
    })
  }
  const subscriptions = serveSubscriptions({
    ...{ chain, iface, pool, clock, budget, relay: relayFor(first.relaying) },
    config: first.relaying,
    ...router.subscriptions,
    observer: observers.subscriptionObserver(chainId, apiInterface),
  })
  const isVoted = (method: string) => policies.now.crossValidated.has(method)
  const endpoints = served.map(({ config, relaying, rule }, index) => ({
    config,
    listener: listeners[apiInterface]({
      address: config.address,
      isShared: Boolean(context.worker),
      iface: withMethodRule(iface, rule, pool),
      relay: guard(withWake(cachedRelayFor(relaying, index), watch, isVoted)),
      clock,
      observer: observers.listenerObserver(chainId, apiInterface),
      maxRequestBytes: router.maxRequestBytes,
      budget,
      allowedOrigins: router.allowedOrigins,
      clients: new ClientAddresses(router.clients),
      socketLimits: router.sockets,
      grpcLimits: router.grpc,
      subscriptions,
      version: context.version,
      newGuid: randomUUID,
      health: () => pool.hasEligible && !context.isDraining(),
    }),
  }))
  const prepare = (next: RouterConfig): PreparedChain => {
    const own = live(next)
    const change = pool.prepare(own.upstreams)
    return {
      verify: () => watch.add(change.added),
      wouldEnd: () => pool.wouldEnd(change),
      discard: () => pool.discard(change),
      commit() {
        policies.now = own.policies
        for (const [index, { relaying, rule }] of served.entries()) {
          const endpoint = own.endpoints[index]
          if (!endpoint) continue
          relaying.now = endpoint.relay
          rule.now = ruleOf(endpoint)
        }
        pool.pick.maxSessions = next.maxSessionsPerUpstream
        pool.commit(change)
      },
    }
  }
  return { chainId, apiInterface, pool, watch, subscriptions, endpoints, prepare }
}

/** Subscription ids must not be guessable. */
const unguessable: Random = { next: () => randomInt(2 ** 47) / 2 ** 47 }

/** Wires the subscriptions of a chain and interface; null if it has none. */
function serveSubscriptions(
  context: Omit<HubOptions, 'family' | 'random' | 'turns'> & {
    readonly chain: Chain
    readonly iface: ChainInterface
    readonly relay: Relay
    readonly budget: ByteBudget
  },
): ServedChain['subscriptions'] {
  const { chain, iface, relay, budget, clock } = context
  const form = subscriptionFormOf(chain, iface)
  if (!form) return null
  const ask = createAsk(relay, (question) => makeOwnCall(question, randomUUID(), context), budget)
  const family = familyOf(chain, iface, ask, clock)
  const { turns } = budget
  const hub = new Hub({ ...context, family, turns, random: unguessable })
  return { form, hub, random: unguessable, close: () => hub.close() }
}
