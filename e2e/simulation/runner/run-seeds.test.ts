// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadSpec } from '../engine.ts'
import { runSeeds } from './run-seeds.ts'
import { placeOf, type Simulation } from './types.ts'
import { shrink } from './shrink.ts'

const spec = await loadSpec()

/** Numbers, of which those of a seed are not to be there. */
interface Numbers {
  readonly seed: number
  readonly groups: readonly (readonly number[])[]
}

const broken = [3, 11]

/** @param traces of the first run, the second, and so on; and of each after these */
function simulation(...traces: readonly string[][]): Simulation<Numbers, 'sound', number[]> {
  let runs = 0
  return {
    draw: (seed) => ({ seed, groups: [Array.from({ length: 16 }, (_, at) => at), [1, 2], [5]] }),
    run({ seed, groups }) {
      const trace = traces[runs++] ?? []
      const isBroken = seed % 10 === 7 && broken.every((each) => groups.flat().includes(each))
      const violations = isBroken ? [{ rule: 'sound' as const, what: 'they are there' }] : []
      return Promise.resolve({ violations, trace: () => trace, tally: [seed] })
    },
    emptyTally: () => [],
    addTally: (sum, more) => sum.push(...more),
    parts: [
      ({ seed, groups }) =>
        groups.map((group, at) =>
          placeOf(group, (shorter) =>
            shorter.length === 0 ? null : { seed, groups: groups.with(at, shorter) },
          ),
        ),
      ({ seed, groups }) => [placeOf(groups, (shorter) => ({ seed, groups: shorter }))],
    ],
  }
}

test('all seeds are run, and those that break something are told', async () => {
  const { tally, failures } = await runSeeds(simulation(), [6, 7, 8, 17], spec)
  expect(tally).toEqual([6, 7, 8, 17])
  const violations = [{ rule: 'sound', what: 'they are there' }]
  expect(failures).toEqual([
    { seed: 7, violations },
    { seed: 17, violations },
  ])
})

test.each<[string, string[], number | null]>([
  ['the same', ['a', 'b', 'c'], null],
  ['another line', ['a', 'x', 'c'], 2],
  ['a beginning of the first', ['a', 'b'], 3],
  ['nothing', [], 1],
  ['the first and something more', ['a', 'b', 'c', 'd'], 4],
])('of each fiftieth seed a second run is to leave the same trace: %s', async (_, again, line) => {
  const { failures } = await runSeeds(simulation(['a', 'b', 'c'], again), [50], spec)
  const what = `the second run differs at line ${line}`
  const violations = [{ rule: 'same-trace', what }]
  expect(failures).toEqual(line === null ? [] : [{ seed: 50, violations }])
})

test('a failing schedule loses all that it can be without, and what cannot be empty is not tried for ever', async () => {
  const own = simulation()
  const { schedule, result } = await shrink(own, own.draw(7), 'sound', spec)
  expect(schedule.groups).toEqual([broken])
  expect(result.violations).toHaveLength(1)
})
