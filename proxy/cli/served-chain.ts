// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomInt, randomUUID } from 'node:crypto'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { type CacheOptions, withCache } from '../cache/cache.ts'
import type { Chain, ChainCatalog, ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { ApiInterface, EndpointConfig, RouterConfig } from '../config/types.ts'
import { withMinBlock } from '../consistency/min-block.ts'
import { type SentStore, withSentTransactions } from '../consistency/sent-transactions.ts'
import { withCrossValidation } from '../cross-validation/cross-validation.ts'
import { isMandatory } from '../cross-validation/terms.ts'
import { withFilters } from '../filters/filters.ts'
import { createGrpcListener } from '../listener/grpc.ts'
import { createJsonRpcListener } from '../listener/jsonrpc.ts'
import { makeOwnCall } from '../listener/jsonrpc/jsonrpc-call.ts'
import type { Listener, ListenerOptions, SubscriptionServing } from '../listener/listener.ts'
import { createRestListener } from '../listener/rest.ts'
import { createTendermintListener } from '../listener/tendermint.ts'
import { createRelay, type Relay } from '../relay/relay.ts'
import type { Sessions } from '../sticky/sessions.ts'
import { withStickiness } from '../sticky/stickiness.ts'
import { createAsk } from '../subscription/ask.ts'
import { familyOf, subscriptionFormOf } from '../subscription/families/family-of.ts'
import { Hub, type HubOptions } from '../subscription/hub.ts'
import type { Observers } from '../telemetry/observers.ts'
import { dialects } from '../upstream/dialect.ts'
import { createPool, type Pool } from '../upstream/pool.ts'
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

export interface ServedChainParts {
  readonly catalog: ChainCatalog
  readonly clock: Clock
  readonly random: Random
  readonly version: string
  readonly observers: Observers
  readonly budget: ByteBudget
  readonly sessions: Sessions
  /** Where replicas note transactions; null: each for itself. */
  readonly sent?: SentStore | null
  /** Where answers are kept; null: nowhere. */
  readonly cache: Pick<CacheOptions, 'store' | 'shared'> | null
  /** A stop has begun: `GET /health` sends clients elsewhere. */
  readonly isDraining: () => boolean
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
}

/** Wires every chain of the config. Nothing is bound or sent yet. @throws TlsFileError */
export function serveChains(config: RouterConfig, parts: ServedChainParts): readonly ServedChain[] {
  const groups = Map.groupBy(
    config.endpoints,
    ({ chainId, apiInterface }) => `${parts.catalog.find(chainId)?.id} ${apiInterface}`,
  )
  return [...groups.values()].map((endpoints) => serveChain(endpoints, config, parts))
}

function serveChain(
  configs: readonly EndpointConfig[],
  router: RouterConfig,
  parts: ServedChainParts,
): ServedChain {
  const { catalog, clock, random, observers, budget, cache } = parts
  const [first] = configs
  if (!first) throw new Error('a chain is served by one listener at least')
  const { apiInterface } = first
  const chain = catalog.find(first.chainId)
  const iface = chain?.interfaces.get(apiInterface)
  // The config was checked against the catalog before anything is wired.
  if (!chain || !iface) throw new Error(`no spec for ${first.chainId} through ${apiInterface}`)
  // The spec's own spelling, however the config spells it: one chain is one label.
  const chainId = chain.id
  const poolObserver = observers.poolObserver(chainId, apiInterface)
  const ownUpstreams = router.upstreams.filter(
    (each) => catalog.find(each.chainId) === chain && each.apiInterface === apiInterface,
  )
  const createTransport = apiInterface === 'grpc' ? createGrpcTransport : createHttpTransport
  const userAgent = `rpc-router/${parts.version}`
  const pool = createPool(ownUpstreams, {
    chain,
    iface,
    strategy: first.relay.strategy,
    maxSessions: router.maxSessionsPerUpstream,
    clock,
    random,
    observer: poolObserver,
    failureThreshold: router.upstreamFailureThreshold,
    createTransport: (url) => createTransport(url, { clock, userAgent, budget }),
    createSocketTransport: (url) =>
      createWebSocketTransport(url, {
        clock,
        userAgent,
        // So many nodes take: Tendermint, as it is shipped, five.
        subscriptionsPerConnection: apiInterface === 'tendermintrpc' ? 5 : 100,
      }),
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
  })
  const validations = router.policies.filter(
    (each) => catalog.find(each.chainId) === chain && each.apiInterface === apiInterface,
  )
  const relayFor = (config: EndpointConfig) => {
    const relay = createRelay({
      chain,
      dialect: dialects[apiInterface],
      pool,
      config: config.relay,
      selectionStats: router.enableSelectionStats,
      clock,
      observer: observers.relayObserver(chainId, apiInterface),
    })
    const sent = withSentTransactions(relay, parts.sent ?? null, `${chainId}:${apiInterface}`)
    const filtered = withFilters(sent, { chain, pool })
    const atBlock = withMinBlock(filtered, { chain, pool, config: config.relay, clock })
    const sticky = withStickiness(atBlock, {
      ...{ chainId, apiInterface, pool, strategy: config.relay.strategy },
      sessions: parts.sessions,
    })
    return withCrossValidation(sticky, {
      ...{ chain, iface, pool, clock, budget, config: config.relay },
      policies: validations,
      observer: observers.crossValidationObserver(chainId, apiInterface),
    })
  }
  const crossValidated = new Set(validations.filter(isMandatory).map(({ method }) => method))
  const policies = router.cache.policies.filter(
    (each) =>
      (each.chainId === null || catalog.find(each.chainId) === chain) &&
      (each.apiInterface ?? apiInterface) === apiInterface,
  )
  const cachedRelayFor = (config: EndpointConfig, index: number) => {
    const relay = relayFor(config)
    if (cache === null) return relay
    const dialect = dialects[apiInterface]
    // What the checks of one listener let pass is nothing for another.
    const scope = `${index} ${config.relay.integrity}`
    return withCache(relay, {
      ...{ chain, iface, pool, dialect, clock, policies, crossValidated, scope },
      turns: budget.turns,
      ...cache,
    })
  }
  const subscriptions = serveSubscriptions({
    ...{ chain, iface, pool, clock, budget, relay: relayFor(first), ...first.relay },
    ...router.subscriptions,
    observer: observers.subscriptionObserver(chainId, apiInterface),
  })
  const endpoints = configs.map((config, index) => ({
    config,
    listener: listeners[apiInterface]({
      address: config.address,
      iface,
      relay: cachedRelayFor(config, index),
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
  return { chainId, apiInterface, pool, watch, subscriptions, endpoints }
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
