// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { availableParallelism } from 'node:os'
import type { FixedLimits, RouterConfig } from '../config/types.ts'

/** The number of workers that a config asks for. */
export function workersOf({ workers }: Pick<RouterConfig, 'workers'>): number {
  // Node.js honours the CPU limits of a container.
  return workers === 'auto' ? availableParallelism() : (workers ?? 1)
}

/**
 * The config of one worker: limits are split, so that all workers together respect them, and state
 * is shared.
 * @param number of the worker, from 1
 */
export function shareOf(config: RouterConfig, number: number, count: number): RouterConfig {
  // The parts add up to the total, unless it is below one per worker.
  const part = (total: number) => Math.max(1, Math.floor((total + number - 1) / count))
  const partOf = (total: number | null) => (total === null ? null : part(total))
  const limitsOf = ({ perSecond, perDay, concurrent }: FixedLimits): FixedLimits => ({
    perSecond: partOf(perSecond),
    perDay: partOf(perDay),
    concurrent: partOf(concurrent),
  })
  const { upstreams, cache } = config
  return {
    ...config,
    maxBufferedBytes: partOf(config.maxBufferedBytes),
    maxSessionsPerUpstream: part(config.maxSessionsPerUpstream),
    sharedState: true,
    cache: {
      ...cache,
      isShared: true,
      maxBytes: cache.maxBytes === 0 ? 0 : part(cache.maxBytes),
    },
    upstreams: upstreams.map((upstream) => ({
      ...upstream,
      nodeUrls: upstream.nodeUrls.map((url) => ({
        ...url,
        limits: url.limits && limitsOf(url.limits),
      })),
    })),
  }
}
