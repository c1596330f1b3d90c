// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../../proxy/clock/testing/virtual-clock.ts'
import { ethereum } from '../../../proxy/relay/testing/relay-fixture.ts'
import { runSeeds } from './run-seeds.ts'
import { Run, type Simulation } from './run.ts'

const spec = await ethereum()

/** A schedule without events. Some seeds break a rule. */
interface Numbers {
  readonly seed: number
  readonly groups: readonly (readonly number[])[]
}

const broken = [3, 11]

/** @param traces trace of each run, in order */
function simulation(...traces: readonly string[][]): Simulation<Numbers> {
  let runs = 0
  return {
    draw: (seed) => ({ seed, groups: [Array.from({ length: 16 }, (_, at) => at), [1, 2], [5]] }),
    run({ seed, groups }) {
      const ran = new Run(new VirtualClock())
      for (const event of traces[runs++] ?? []) ran.log(event)
      ran.count(`seed ${seed}`)
      if (seed % 10 === 7 && broken.every((each) => groups.flat().includes(each)))
        ran.report('sound', 'both are present')
      return Promise.resolve(ran)
    },
  }
}

test('all seeds run, and violations are reported', async () => {
  const { counts, failures } = await runSeeds(simulation(), { from: 6, until: 17 }, spec)
  expect(Object.keys(counts)).toHaveLength(12)
  const violations = [{ rule: 'sound', what: 'both are present' }]
  expect(failures).toEqual([
    { seed: 7, violations },
    { seed: 17, violations },
  ])
})

test('a step skips seeds', async () => {
  const { counts } = await runSeeds(simulation(), { from: 2, until: 9, step: 3 }, spec)
  expect(counts).toEqual({ 'seed 2': 1, 'seed 5': 1, 'seed 8': 1 })
})

test.each<[string, string[], number | null]>([
  ['an equal trace', ['a', 'b', 'c'], null],
  ['another line', ['a', 'x', 'c'], 2],
  ['a shorter trace', ['a', 'b'], 3],
  ['an empty trace', [], 1],
  ['a longer trace', ['a', 'b', 'c', 'd'], 4],
])(
  'a second run of every fiftieth seed must produce the same trace: %s',
  async (_, again, line) => {
    const twice = simulation(['a', 'b', 'c'], again)
    const { failures } = await runSeeds(twice, { from: 50, until: 50 }, spec)
    const what = `the second run differs at line ${line}`
    const violations = [{ rule: 'same-trace', what }]
    expect(failures).toEqual(line === null ? [] : [{ seed: 50, violations }])
  },
)
