// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { strategies, type Strategy } from '../config/types.ts'
import type { Qualities } from './observer.ts'
import { draw, floorOf, weightOf } from './weights.ts'

/** Weights as the draw receives them. */
function weigh(strategy: Strategy, candidates: readonly Qualities[]): readonly number[] {
  const weights = candidates.map((each) => weightOf(strategy, each))
  const floor = floorOf(weights)
  return weights.map((weight) => Math.max(weight, floor))
}

const weightFloor = 0.05
const weighing = strategies.filter((strategy) => strategy !== 'round-robin')
const unit = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1e-308, 1))
const qualities = fc.record({ availability: unit, latency: unit, sync: unit, earned: unit })

describe('weigh', () => {
  it.each(weighing)('%s: weights are finite, above the floor and monotonic', (strategy) => {
    fc.assert(
      fc.property(fc.array(qualities, { minLength: 1, maxLength: 8 }), qualities, (others, one) => {
        const better: Qualities = {
          availability: Math.min(1, one.availability + 0.1),
          latency: Math.min(1, one.latency + 0.1),
          sync: Math.min(1, one.sync + 0.1),
          earned: Math.min(1, one.earned + 0.1),
        }
        const weights = weigh(strategy, [one, better, ...others])
        const best = Math.max(...weights)
        for (const weight of weights) {
          expect(weight).toBeGreaterThanOrEqual(best * weightFloor * (1 - 1e-12))
          expect(weight).toBeLessThanOrEqual(1)
          expect(weight / best).toBeGreaterThan(0)
        }
        expect(weights[1]).toBeGreaterThanOrEqual(weights[0] ?? NaN)
      }),
    )
  })

  it.each(weighing)(
    '%s: equal upstreams have equal weights, even at the beginning of a slow start',
    (strategy) => {
      fc.assert(
        fc.property(qualities, fc.constantFrom(0, 1), (one, earned) => {
          const weights = weigh(
            strategy,
            [1, 2, 3].map(() => ({ ...one, earned })),
          )
          expect(weights.map((weight) => weight / weights[0]!)).toEqual([1, 1, 1])
          const drawn = [0.1, 0.5, 0.9].map((chance) => draw(weights, { next: () => chance }))
          expect(drawn).toEqual([0, 1, 2])
        }),
      )
    },
  )

  it.each(weighing)('%s: the worst upstream has a twentieth of the best weight', (strategy) => {
    const best = { availability: 1, latency: 1, sync: 1, earned: 1 }
    const worst = { availability: 0, latency: 0, sync: 0, earned: 0 }
    expect(weigh(strategy, [best, worst])).toEqual([1, 0.05])
  })

  it('favours the quality that names the strategy', () => {
    const fast = { availability: 0.9, latency: 1, sync: 0.5, earned: 1 }
    const fresh = { availability: 0.9, latency: 0.5, sync: 1, earned: 1 }
    const steady = { availability: 1, latency: 0.6, sync: 0.6, earned: 1 }
    const favourite = (strategy: (typeof weighing)[number]) => {
      const weights = weigh(strategy, [fast, fresh, steady])
      return weights.indexOf(Math.max(...weights))
    }
    expect(favourite('latency')).toBe(0)
    expect(favourite('sync-freshness')).toBe(1)
    expect(favourite('availability')).toBe(2)
  })
})

describe('draw', () => {
  it('draws in proportion to the weights', () => {
    const random = seededRandom(7)
    const drawn = [0, 0, 0]
    for (let round = 0; round < 10_000; round++) drawn[draw([1, 3, 6], random)]! += 1
    expect(drawn.map((times) => Math.round(times / 1000))).toEqual([1, 3, 6])
  })

  it('always returns an index, even at the bounds of the random number', () => {
    for (const chance of [0, 0.5, 1 - Number.EPSILON])
      expect([0, 1]).toContain(draw([0.5, 0.5], { next: () => chance }))
  })
})
