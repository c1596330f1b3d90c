// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { MemoryStore } from '../cache/memory-store.ts'
import { lookupTimeoutMs, shareByStore } from '../cache/shared-cache.ts'
import type { Clock } from '../clock/clock.ts'
import { formatAddress } from '../config/fields/address.ts'
import type { Random } from '../clock/random.ts'
import { createSliceMemory } from '../logs/slices.ts'
import type { RouterConfig, StoreConfig } from '../config/types.ts'
import type { SharedStore } from '../store/shared-store.ts'
import { Sessions, stickyOutcomes } from '../sticky/sessions.ts'
import { timeOf } from '../telemetry/config-state.ts'
import type { Health, StoreTrouble } from '../telemetry/health.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { readTls } from '../upstream/wire/upstream-target.ts'
import type { StoreOptions } from '../store/store-options.ts'

/* Stores answers and sessions in this process, and shares them with other replicas. */

/** A store and how to connect to it; null: none. */
type Store = {
  /** Name such as `127.0.0.1:6379 (resp-cache)`. */
  readonly name: string
  /** @throws TlsFileError */
  readonly open: (options: StoreOptions) => SharedStore
} | null

/** Loads the clients of the configured stores, which takes about 6 MB and at least 40 ms. */
export async function loadStores({ store, cacheServer, cache }: RouterConfig) {
  const service = await loadService(cacheServer)
  const redis = await loadRedis(store, 'resp-cache')
  return {
    sessions: redis ?? service,
    answers: (await loadRedis(cache.store, 'cache.resp-cache')) ?? service ?? redis,
  }
}

async function loadService(address: RouterConfig['cacheServer']): Promise<Store> {
  if (!address) return null
  const { CacheClient } = await import('../store/grpc/cache-client.ts')
  const name = `${formatAddress(address)} (cache-be)`
  return { name, open: (options) => new CacheClient(formatAddress(address), options) }
}

async function loadRedis(store: StoreConfig | null, kind: string): Promise<Store> {
  if (!store) return null
  const { RedisStore } = await import('../store/redis/redis.ts')
  const { RedisKeys } = await import('../store/shared-store.ts')
  return {
    name: `${store.addresses.map(formatAddress).join(', ')} (${kind})`,
    open: (options) =>
      new RedisKeys(new RedisStore(store, { ...options, tls: store.tls && readTls(store.tls) })),
  }
}

export interface SharingOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly stores: Awaited<ReturnType<typeof loadStores>>
  /** Shares answers in another way than by a store; absent: by the store. */
  readonly shareAnswers?: typeof shareByStore | null
  /** Records failures of stores. */
  readonly health?: Pick<Health, 'stores'>
  readonly onCommand?: Metrics['storeCommandEnded']
}

/**
 * @param down message for operators when the store fails
 * @param up message when it answers again
 */
function open(
  { logger, health, ...options }: SharingOptions,
  store: Store,
  feature: StoreTrouble['feature'],
  commandTimeoutMs: number,
  down: string,
  up: string,
): SharedStore | null {
  const onChange = (error: Error | null) => {
    if (error === null) {
      health?.stores.delete(feature)
      return logger.info(up)
    }
    logger.warn(down, { error })
    const since = health?.stores.get(feature)?.since ?? timeOf(options.clock.wallMs())
    const why = `${down}: ${error.message}`
    health?.stores.set(feature, { name: store?.name ?? '', feature, why, since })
  }
  return store?.open({ ...options, commandTimeoutMs, onChange }) ?? null
}

/** Memory for slices of logs, in addition to that of answers. */
const slicesShare = 1 / 2

/** Creates the storage of answers; null: no cache. @throws TlsFileError */
export function createCache(
  { cache }: RouterConfig,
  deps: SharingOptions & { budget: ByteBudget },
) {
  if (cache.maxBytes === 0) return null
  const down = 'answers are not shared between replicas'
  const up = 'answers are shared between replicas again'
  const { answers } = deps.stores
  const keys = cache.isShared ? open(deps, answers, 'cache', lookupTimeoutMs, down, up) : null
  const shared = keys && (deps.shareAnswers ?? shareByStore)(keys)
  const slices = createSliceMemory(cache.maxBytes * slicesShare)
  return { store: new MemoryStore(cache.maxBytes, deps.budget), shared, slices }
}

/** Maximum time a session's request waits for the store. */
const claimTimeoutMs = 1_000

/** Creates the sticky sessions, shared with other replicas if configured. @throws TlsFileError */
export function createSessions(
  { sharedState, epochDurationMs }: RouterConfig,
  deps: SharingOptions & { readonly metrics: Metrics },
) {
  const { clock, logger, metrics, stores } = deps
  const down = 'requests with rpc-stickiness may fail'
  const up = 'the store of sticky sessions answers'
  const keys = sharedState
    ? open(deps, stores.sessions, 'sessions', claimTimeoutMs, down, up)
    : null
  const figures = metrics.registerSticky(stickyOutcomes, () => sessions.size)
  const sessions = new Sessions({
    clock,
    keys,
    lifetimeMs: 2 * epochDurationMs,
    count: figures.count,
    storeLost() {
      figures.storeLost()
      logger.warn(
        'the store of sticky sessions restarted or lost its data: sessions fail until replicas have restored theirs',
      )
    },
  })
  return {
    sessions,
    keys,
    /** Called once, when the router starts. */
    warn() {
      if (keys || !sharedState) return
      const message =
        'sticky sessions are kept by this replica alone: shared-state needs resp-cache or cache-be'
      logger.warn(message)
    },
  }
}
