// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, vi } from 'vitest'
import { ethereum } from '../../proxy/relay/testing/relay-fixture.ts'
import type { Spec } from './engine.ts'
import { wrongKinds } from './wrong-answers.ts'
import { runSeeds } from './runner/run-seeds.ts'
import { drawSchedule, faultKinds } from './schedule.ts'
import { simulate } from './simulation.ts'

const spec: Spec = await ethereum()
const engine = { draw: drawSchedule, run: simulate }

// A busy machine may need minutes instead of seconds.
vi.setConfig({ testTimeout: 600_000 })

describe('the engine in virtual time', () => {
  it('keeps every invariant over 60 seeds', async () => {
    const { counts, failures } = await runSeeds(engine, { from: 1, until: 60 }, spec)
    expect(failures).toEqual([])
    expect(counts['schedules']).toBe(60)
    expect(counts['answer']).toBeGreaterThan(300)
  }, 600_000)

  it.each([1, 7, 16, 48, 705])('produces the same trace for seed %i each time', async (seed) => {
    const first = await simulate(drawSchedule(seed), spec)
    const second = await simulate(drawSchedule(seed), spec)
    expect(first.trace().length).toBeGreaterThan(10)
    expect(second.trace()).toEqual(first.trace())
  })

  it('draws every kind of fault and every wrong answer', () => {
    const drawn = new Set<string>()
    for (let seed = 1; seed <= 500; seed++)
      for (const { urls } of drawSchedule(seed).nodes)
        for (const { faults } of urls)
          for (const each of faults)
            for (const name of each.kind === 'wrong' ? each.wrongs : [each.kind]) drawn.add(name)
    const faults = faultKinds.filter((kind) => kind !== 'wrong')
    expect(drawn).toEqual(new Set([...faults, ...wrongKinds]))
  })
})

describe('an engine that gives up too early', () => {
  /** Does not retry failures of the transport. */
  const stubborn: Spec = {
    ...spec,
    chain: {
      ...spec.chain,
      failures: {
        ...spec.chain.failures,
        ofTransport: (fault) => ({ ...spec.chain.failures.ofTransport(fault), retry: false }),
      },
    },
  }

  it('breaks a rule', async () => {
    const { failures } = await runSeeds(engine, { from: 1, until: 40 }, stubborn)
    const failed = failures.filter(({ violations }) => violations[0]?.rule === 'reads-succeed')
    expect(failed.length).toBeGreaterThan(1)
  })
})
