// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt, randomUUID } from 'node:crypto'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { type CacheOptions, withCache } from '../cache/cache.ts'
import { lifetimesOf } from '../cache/retention.ts'
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
import { createGrpcListener } from '../listener/grpc.ts'
import { createJsonRpcListener } from '../listener/jsonrpc.ts'
import { makeOwnCall } from '../listener/jsonrpc/jsonrpc-call.ts'
import type { Listener, ListenerOptions, SubscriptionServing } from '../listener/listener.ts'
import { createRestListener } from '../listener/rest.ts'
import { createTendermintListener } from '../listener/tendermint.ts'
import { KnownTransactions, type SentStore } from '../relay/known-transactions.ts'
import { createRelay, type Relay, withWake } from '../relay/relay.ts'
import type { TraceHeaders } from '../relay/traced-request.ts'
import type { Sessions } from '../sticky/sessions.ts'
import { withStickiness } from '../sticky/stickiness.ts'
import { createAsk } from '../subscription/ask.ts'
import { familyOf } from '../subscription/families/family-of.ts'
import { subscriptionFormOf } from '../subscription/forms/form-of.ts'
import { Hub, type HubOptions } from '../subscription/hub.ts'
import type { Observers } from '../telemetry/observers.ts'
import type { CallSpans } from '../telemetry/otel/call-spans.ts'
import { ChainTracker } from '../tracker/chain-tracker.ts'
import { dialects } from '../upstream/dialect.ts'
import { createPool, type Pool, type PoolOptions } from '../upstream/pool.ts'
import { type HeadStore, SharedHeads } from '../upstream/shared-heads.ts'
import { Watch } from '../upstream/watch.ts'
import { createGrpcTransport } from '../upstream/wire/grpc/grpc-transport.ts'
import { createHttpTransport } from '../upstream/wire/http/http-transport.ts'
import { createWebSocketTransport } from '../upstream/wire/ws/ws-transport.ts'

/** How each interface is served. */
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
  /** Where replicas note transactions; null: each for itself. */
  readonly sent?: SentStore | null
  /** Where replicas note the heads that they poll; null: each polls for itself. */
  readonly heads?: HeadStore | null
  /** Where answers are kept; null: nowhere. */
  readonly cache: Pick<CacheOptions, 'store' | 'shared'> | null
  /** Null or absent: nothing is traced. */
  readonly tracing?: Pick<CallSpans, 'traceHeaders'> | null
  /** A stop has begun: `GET /health` sends clients elsewhere. */
  readonly isDraining: () => boolean
  /** Stands between the listeners and what they ask; absent: nothing does. */
  readonly guard?: (relay: Relay) => Relay
}

/** One listener of the config and what it serves. */
export interface ServedEndpoint {
  readonly config: EndpointConfig
  readonly listener: Listener
}

/**
 * One chain through one interface: its pool of upstreams, the watch over them, and every listener
 * that the config has for it.
 */
export interface ServedChain {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  readonly pool: Pool
  readonly watch: Watch
  /** Null where there is nothing to subscribe to. */
  readonly subscriptions: (SubscriptionServing & { close(): void }) | null
  readonly endpoints: readonly ServedEndpoint[]
  /** Makes ready what another config has for it, whose listeners are the same. Nothing is changed yet. @throws TlsFileError */
  prepare(config: RouterConfig): PreparedChain
}

/** A part of another config before it is taken over. */
export interface PreparedChain {
  /** Settles when every new upstream was asked once whether it can serve, whatever came of it. */
  verify(): Promise<unknown>
  /** No upstream of it can serve, and one of the present config does. */
  wouldEnd(): boolean
  /** Takes it over, at once. */
  commit(): void
  discard(): void
}

/** What the config says of one chain and interface, and a reload replaces. */
function liveOf(
  { endpoints, upstreams, policies, cache }: RouterConfig,
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
    relaying: endpoints.filter(isOwn).map(({ relay }) => relay),
    upstreams: upstreams.filter(isOwn),
    policies: {
      validations: new Map(validations.map((policy) => [policy.method, policy])),
      crossValidated: new Set(mandatory.map(({ method }) => method)),
      lifetimes: lifetimesOf(keeping, chain.blockTimeMs),
    },
  }
}

/** How upstreams of an interface are reached. */
export function transportsOf(
  apiInterface: ApiInterface,
  { clock, budget, version }: Pick<ServedChainContext, 'clock' | 'budget' | 'version'>,
): Pick<PoolOptions, 'createTransport' | 'createSocketTransport'> {
  const create = apiInterface === 'grpc' ? createGrpcTransport : createHttpTransport
  const userAgent = `rpc-router/${version}`
  return {
    createTransport: (url) => create(url, { clock, userAgent, budget }),
    createSocketTransport: (url) =>
      createWebSocketTransport(url, {
        clock,
        userAgent,
        // So many nodes take: Tendermint, as it is shipped, five.
        subscriptionsPerConnection: apiInterface === 'tendermintrpc' ? 5 : 100,
      }),
  }
}

/** Wires every chain of the config. Nothing is bound or sent yet. @throws TlsFileError */
export function serveChains(
  config: RouterConfig,
  parts: ServedChainContext,
): readonly ServedChain[] {
  const groups = Map.groupBy(
    config.endpoints,
    ({ chainId, apiInterface }) => `${parts.catalog.find(chainId)?.id} ${apiInterface}`,
  )
  const trackers = new Map<Chain, ChainTracker>()
  const { clock } = parts
  const trackerOf = (chain: Chain) =>
    trackers.getOrInsertComputed(chain, () => new ChainTracker({ chain, clock }))
  return [...groups.values()].map((endpoints) => serveChain(endpoints, config, parts, trackerOf))
}

function serveChain(
  configs: readonly EndpointConfig[],
  router: RouterConfig,
  parts: ServedChainContext,
  trackerOf: (chain: Chain) => ChainTracker,
): ServedChain {
  const { catalog, clock, random, observers, budget, cache, guard = (relay) => relay } = parts
  const served = configs.map((config) => ({ config, relaying: { now: config.relay } }))
  const [first] = served
  if (!first) throw new Error('a chain is served by one listener at least')
  const { chainId: anyName, apiInterface } = first.config
  const chain = catalog.find(anyName)
  const iface = chain?.interfaces.get(apiInterface)
  // The config was checked against the catalog before anything is wired.
  if (!chain || !iface) throw new Error(`no spec for ${anyName} through ${apiInterface}`)
  // The spec's own spelling, however the config spells it: one chain is one label.
  const chainId = chain.id
  const poolObserver = observers.poolObserver(chainId, apiInterface)
  const live = (config: RouterConfig) => liveOf(config, chain, apiInterface, catalog)
  const { upstreams, ...atStart } = live(router)
  const policies = { now: atStart.policies }
  const pool = createPool(upstreams, {
    chain,
    iface,
    tracker: trackerOf(chain),
    config: first.relaying,
    maxSessions: router.maxSessionsPerUpstream,
    clock,
    random,
    observer: poolObserver,
    failureThreshold: router.upstreamFailureThreshold,
    epochDurationMs: router.epochDurationMs,
    ...transportsOf(apiInterface, parts),
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
    heads: parts.heads ? new SharedHeads(parts.heads, `${chainId}:${apiInterface}`) : null,
  })
  const relayFor = (config: Live<RelayConfig>, traceHeaders: TraceHeaders | null = null) => {
    const relay = createRelay({
      chain,
      dialect: dialects[apiInterface],
      pool,
      config,
      selectionStats: router.enableSelectionStats,
      clock,
      observer: observers.relayObserver(chainId, apiInterface),
      traceHeaders,
      known: new KnownTransactions(parts.sent, `${chainId}:${apiInterface}`),
    })
    const filtered = withFilters(relay, { chain, pool })
    const sticky = withStickiness(filtered, {
      ...{ chainId, apiInterface, pool, config, clock },
      sessions: parts.sessions,
    })
    return withCrossValidation(sticky, {
      ...{ chain, iface, pool, clock, budget, config, policies },
      observer: observers.crossValidationObserver(chainId, apiInterface),
    })
  }
  const cachedRelayFor = (config: Live<RelayConfig>, index: number) => {
    const relay = relayFor(config, parts.tracing?.traceHeaders(chainId, apiInterface))
    if (cache === null) return relay
    const dialect = dialects[apiInterface]
    // What the checks of one listener let pass is nothing for another.
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
  const endpoints = served.map(({ config, relaying }, index) => ({
    config,
    listener: listeners[apiInterface]({
      address: config.address,
      iface,
      relay: guard(withWake(cachedRelayFor(relaying, index), watch, isVoted)),
      clock,
      observer: observers.listenerObserver(chainId, apiInterface),
      maxRequestBytes: router.maxRequestBytes,
      budget,
      allowedOrigins: router.allowedOrigins,
      socketLimits: router.sockets,
      grpcLimits: router.grpc,
      subscriptions,
      version: parts.version,
      newGuid: randomUUID,
      health: () => pool.hasEligible && !parts.isDraining(),
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
        for (const [index, { relaying }] of served.entries())
          relaying.now = own.relaying[index] ?? relaying.now
        pool.pick.maxSessions = next.maxSessionsPerUpstream
        pool.commit(change)
      },
    }
  }
  return { chainId, apiInterface, pool, watch, subscriptions, endpoints, prepare }
}

/** Ids of subscriptions cannot be guessed. */
const unguessable: Random = { next: () => randomInt(2 ** 47) / 2 ** 47 }

/** Wires what the clients of a chain and interface can subscribe to; null where there is nothing. */
function serveSubscriptions(
  parts: Omit<HubOptions, 'family' | 'random' | 'turns'> & {
    readonly chain: Chain
    readonly iface: ChainInterface
    readonly relay: Relay
    readonly budget: ByteBudget
  },
): ServedChain['subscriptions'] {
  const { chain, iface, relay, budget, clock } = parts
  const form = subscriptionFormOf(chain, iface)
  if (!form) return null
  const ask = createAsk(relay, (question) => makeOwnCall(question, randomUUID(), parts), budget)
  const family = familyOf(chain, iface, ask, clock)
  const { turns } = budget
  const hub = new Hub({ ...parts, family, turns, random: unguessable })
  return { form, hub, random: unguessable, close: () => hub.close() }
}
