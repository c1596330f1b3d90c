// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { MemoryStore } from '../cache/memory-store.ts'
import { lookupTimeoutMs, type SharedRedis } from '../cache/shared-store.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RouterConfig } from '../config/types.ts'
import type { RedisStore } from '../redis/redis.ts'
import type { Logger } from '../telemetry/log.ts'
import { readTls } from '../upstream/wire/upstream-target.ts'

interface CacheParts {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Null where the config has no store. */
  readonly RedisStore: typeof RedisStore | null
}

/** Where answers are kept; null: nowhere. @throws TlsFileError */
export function createCache(
  { cache }: RouterConfig,
  { clock, random, logger, RedisStore }: CacheParts,
) {
  const { maxBytes, store } = cache
  if (maxBytes === 0) return null
  const shared: SharedRedis | null = store &&
    RedisStore && {
      redis: new RedisStore(store, {
        ...{ clock, random },
        commandTimeoutMs: lookupTimeoutMs,
        tls: store.tls && readTls(store.tls),
        onChange(error) {
          if (error) logger.warn('answers are not shared between replicas', { error })
          else logger.info('answers are shared between replicas again')
        },
      }),
      figures: { failures: 0, broken: 0 },
    }
  return { store: new MemoryStore(maxBytes), shared }
}
