// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CostClass } from './score.ts'
import type { Qualities } from './selection.ts'
import type { Upstream } from './upstream.ts'

/** Differences below this are noise: who answers within it counts as equally fast. */
const latencyNoiseMs = 5

/** How the candidates compare with each other for calls of one cost class. */
export function qualitiesOf(
  candidates: readonly Upstream[],
  costClass: CostClass,
  nowMs: number,
): readonly Qualities[] {
  const latencies = candidates.map((each) => each.score.latencyMs(costClass, nowMs))
  const best = Math.min(...latencies.map((latency) => latency ?? Infinity))
  return candidates.map((each, index) => {
    const latency = latencies[index] ?? null
    return {
      availability: each.score.availability(nowMs),
      // One that was not measured yet is taken for as good as the best, so that it gets measured.
      latency: latency === null ? 1 : (best + latencyNoiseMs) / (latency + latencyNoiseMs),
      sync: 1 / (1 + each.lagBlocks),
      earned: each.slowStart.share(nowMs),
    }
  })
}
