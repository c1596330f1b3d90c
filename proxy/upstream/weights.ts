// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'
import type { Qualities } from './observer.ts'
import type { Upstream } from './upstream.ts'

/** Minimum weight of each candidate, as a share of the best. */
const minShare = 0.05
/** Minimum of the best weight, since all candidates may be at the beginning of their slow start. */
const minBest = 1e-9
/** Differences below this are noise. */
const latencyNoiseMs = 5

type Exponents = readonly [availability: number, latency: number, sync: number]

/** Exponent of each quality per strategy. */
const exponents: Readonly<Record<Exclude<Strategy, 'round-robin'>, Exponents>> = {
  balanced: [2, 1, 1],
  latency: [1, 3, 1],
  'sync-freshness': [1, 1, 3],
  availability: [4, 1, 1],
}

/** Weight of an upstream in its pool. */
export interface Weighed extends Qualities {
  readonly name: string
  /** Weight in [0, 1], before the floor. */
  readonly weight: number
}

/** Computes the weights of upstreams. */
export function weigh(
  upstreams: readonly Upstream[],
  strategy: Strategy,
  nowMs: number,
): ReadonlyMap<Upstream, Weighed> {
  const latencies = upstreams.map((each) => each.score.latencyMs(nowMs))
  const best = Math.min(...latencies.map((latency) => latency ?? Infinity))
  return new Map(
    upstreams.map((each, index) => {
      const latency = latencies[index] ?? null
      const qualities = {
        availability: each.score.availability(nowMs),
        // An unmeasured upstream counts as the best, so that it gets measured.
        latency: latency === null ? 1 : (best + latencyNoiseMs) / (latency + latencyNoiseMs),
        sync: 1 / (1 + each.lagBlocks),
        earned: each.earned(nowMs),
      }
      return [each, { name: each.name, ...qualities, weight: weightOf(strategy, qualities) }]
    }),
  )
}

export function weightOf(strategy: Strategy, qualities: Qualities): number {
  if (strategy === 'round-robin') return 1
  const [a, l, s] = exponents[strategy]
  const { availability, latency, sync, earned } = qualities
  return earned * availability ** a * latency ** l * sync ** s
}

/** Minimum weight of each candidate among these weights. */
export function floorOf(weights: Iterable<number>): number {
  let best = minBest
  for (const weight of weights) if (weight > best) best = weight
  return best * minShare
}

/** Selects a candidate at random by weight. @returns its index; 0 without candidates */
export function draw(weights: readonly number[], random: Random): number {
  const floor = floorOf(weights)
  let sum = 0
  for (const weight of weights) sum += Math.max(weight, floor)
  let rest = random.next() * sum
  for (let at = 0; at < weights.length; at++) {
    rest -= Math.max(weights[at] as number, floor)
    if (rest < 0) return at
  }
  return Math.max(0, weights.length - 1)
}
