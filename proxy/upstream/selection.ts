// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../clock/random.ts'
import type { Strategy } from '../config/types.ts'

/** The qualities of an upstream, each in [0, 1] and 1 for the best. */
export interface Qualities {
  readonly availability: number
  readonly latency: number
  readonly sync: number
  /** Below 1 while one that came back earns its share. */
  readonly earned: number
}

/** The least share of the best one's weight that every eligible upstream keeps. */
export const weightFloor = 0.05
/** What the best one weighs at least: all may have nothing of their share yet, and one is drawn all the same. */
const leastBest = 1e-9

type Exponents = readonly [availability: number, latency: number, sync: number]

/** How strongly each quality counts: the power that it is raised to. */
const exponents: Readonly<Record<Exclude<Strategy, 'round-robin'>, Exponents>> = {
  balanced: [2, 1, 1],
  latency: [1, 3, 1],
  'sync-freshness': [1, 1, 3],
  availability: [4, 1, 1],
}

/**
 * The weights by which one of the candidates is drawn; a better one never weighs less.
 * @returns one weight per candidate, the best being at most 1, none below `weightFloor` of the best
 */
export function weigh(
  strategy: Exclude<Strategy, 'round-robin'>,
  candidates: readonly Qualities[],
): readonly number[] {
  const [a, l, s] = exponents[strategy]
  const weights = candidates.map(
    (each) => each.earned * each.availability ** a * each.latency ** l * each.sync ** s,
  )
  const floor = Math.max(...weights, leastBest) * weightFloor
  return weights.map((weight) => Math.max(weight, floor))
}

/** Draws an index by weight. @returns 0 for an empty list of weights */
export function draw(weights: readonly number[], random: Random): number {
  let rest = random.next() * weights.reduce((sum, weight) => sum + weight, 0)
  for (const [index, weight] of weights.entries()) {
    rest -= weight
    if (rest < 0) return index
  }
  return Math.max(0, weights.length - 1)
}
