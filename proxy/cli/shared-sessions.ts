// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RouterConfig } from '../config/types.ts'
import { SharedClaims } from '../sticky/claims.ts'
import { Sessions, stickyOutcomes } from '../sticky/sessions.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { OpenStore } from './open-store.ts'

/** How long a request of a session waits for the store. */
const claimTimeoutMs = 1_000

interface SharedSessionsParts {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
  readonly openStore: OpenStore | null
}

/** The sticky sessions of the process, shared with other replicas where the config says so. @throws TlsFileError */
export function createSessions(config: RouterConfig, parts: SharedSessionsParts) {
  const { clock, random, logger, metrics, openStore } = parts
  const { sharedState, epochDurationMs } = config
  const keys =
    sharedState && openStore
      ? openStore({
          ...{ clock, random },
          commandTimeoutMs: claimTimeoutMs,
          onChange(error) {
            if (error) logger.warn('requests with rpc-stickiness may fail', { error })
            else logger.info('the store of sticky sessions answers')
          },
        })
      : null
  const count = metrics.registerSticky(stickyOutcomes, () => sessions.size)
  const sessions = new Sessions({
    clock,
    store: keys && new SharedClaims(keys),
    lifetimeMs: 2 * epochDurationMs,
    count,
  })
  return {
    sessions,
    /** Once, when the router starts. */
    warn() {
      if (keys) return
      const missing = [
        ...(openStore ? [] : ['resp-cache or cache-be']),
        ...(sharedState ? [] : ['shared-state']),
      ]
      const message =
        'sticky sessions are kept by this replica alone: several replicas would choose a node each'
      logger.warn(message, { missing: missing.join(', ') })
    },
    close() {
      keys?.close()
    },
  }
}
