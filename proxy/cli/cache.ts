// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { MemoryStore } from '../cache/memory-store.ts'
import { lookupTimeoutMs, type SharedAnswers } from '../cache/shared-store.ts'
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { RouterConfig } from '../config/types.ts'
import type { Logger } from '../telemetry/log.ts'
import type { OpenStore } from './open-store.ts'

interface CacheParts {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Null where the config has no store. */
  readonly openStore: OpenStore | null
}

/** Where answers are kept; null: nowhere. @throws TlsFileError */
export function createCache(
  { cache }: RouterConfig,
  { clock, random, logger, openStore }: CacheParts,
) {
  const { maxBytes, isShared } = cache
  if (maxBytes === 0) return null
  const shared: SharedAnswers | null =
    isShared && openStore
      ? {
          keys: openStore({
            ...{ clock, random },
            commandTimeoutMs: lookupTimeoutMs,
            onChange(error) {
              if (error) logger.warn('answers are not shared between replicas', { error })
              else logger.info('answers are shared between replicas again')
            },
          }),
          figures: { failures: 0, broken: 0 },
        }
      : null
  return { store: new MemoryStore(maxBytes), shared }
}
