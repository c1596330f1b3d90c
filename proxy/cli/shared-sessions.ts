// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RouterConfig } from '../config/types.ts'
import type { RedisStore } from '../redis/redis.ts'
import { RedisClaims } from '../sticky/claims.ts'
import { Sessions, stickyOutcomes } from '../sticky/sessions.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { readTls } from '../upstream/wire/upstream-target.ts'

/** How long a request of a session waits for the store. */
const claimTimeoutMs = 1_000

interface SharedSessionsParts {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
  readonly RedisStore: typeof RedisStore | null
}

/** The sticky sessions of the process, shared with other replicas where the config says so. @throws TlsFileError */
export function createSessions(config: RouterConfig, parts: SharedSessionsParts) {
  const { clock, random, logger, metrics, RedisStore } = parts
  const { store, sharedState, epochDurationMs } = config
  const redis =
    sharedState && store && RedisStore
      ? new RedisStore(store, {
          ...{ clock, random },
          commandTimeoutMs: claimTimeoutMs,
          tls: store.tls && readTls(store.tls),
          onChange(error) {
            if (error) logger.warn('requests with rpc-stickiness may fail', { error })
            else logger.info('the store of sticky sessions answers')
          },
        })
      : null
  const count = metrics.registerSticky(stickyOutcomes, () => sessions.size)
  const sessions = new Sessions({
    clock,
    store: redis && new RedisClaims(redis),
    lifetimeMs: 2 * epochDurationMs,
    count,
  })
  return {
    sessions,
    /** Once, when the router starts. */
    warn() {
      if (redis) return
      const missing = [...(store ? [] : ['resp-cache']), ...(sharedState ? [] : ['shared-state'])]
      const message =
        'sticky sessions are kept by this replica alone: several replicas would choose a node each'
      logger.warn(message, { missing: missing.join(', ') })
    },
    close() {
      redis?.close()
    },
  }
}
