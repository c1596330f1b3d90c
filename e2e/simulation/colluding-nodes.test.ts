// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ByteBudget } from '../../proxy/bytes/byte-budget.ts'
import { withCrossValidation } from '../../proxy/cross-validation/cross-validation.ts'
import {
  ethereum,
  type FixtureUpstream,
  nodeError,
  RelayFixture,
  result,
} from '../../proxy/relay/testing/relay-fixture.ts'
import { Dice } from './dice.ts'

const { chain, iface } = await ethereum()
const schedules = 300
const processingTimeoutMs = 4_000
const truth = '0x1'
const wrong = '0xbad'

/** Queries nodes, of which one fewer than the threshold return the same wrong answer. */
async function play(seed: number) {
  const dice = new Dice(seed, 0)
  const count = dice.whole(2, 7)
  const agreement = dice.whole(2, count)
  const participants = dice.whole(agreement, count)
  const colluders = new Set<number>()
  while (colluders.size < agreement - 1) colluders.add(dice.whole(0, count - 1))
  let honest = 0
  const nodes = dice.times(count, (at): [string, FixtureUpstream] => {
    const afterMs = Math.round(dice.scaled(1, 2_000))
    const group = dice.pick(['x', 'y', 'z'])
    const isWrong = colluders.has(at)
    const isHealthy = isWrong || dice.chance(0.8)
    if (isHealthy && !isWrong) honest += 1
    const bad = dice.pick([
      { fault: 'refused' as const },
      { fault: 'reset' as const, afterMs },
      { status: 429, body: '{}' },
      { hang: true },
      nodeError(-32000, 'header not found'),
    ])
    const answer = isHealthy ? result(isWrong ? wrong : truth, { afterMs }) : bad
    return [`node-${at}`, { group, script: () => answer }]
  })
  const fixture = new RelayFixture(chain, iface, Object.fromEntries(nodes), { processingTimeoutMs })
  const { pool, clock } = fixture
  const budget = new ByteBudget(Infinity)
  const options = {
    chain,
    iface,
    pool,
    clock,
    budget,
    policies: { now: { validations: new Map() } },
  }
  fixture.relay = withCrossValidation(fixture.relay, {
    ...options,
    config: { now: { strategy: 'balanced', minRelayTimeoutMs: 1_000 } },
    observer: { validated() {}, finalizedMismatch() {} },
  })
  const crossValidation = { participants, agreement }
  const { outcome, tookMs } = await fixture.ask({ directives: { crossValidation } })
  return { outcome, tookMs, isCertain: honest >= agreement && participants === count }
}

test(`in ${schedules} schedules colluding nodes below the threshold never win`, async () => {
  const outcomes = { agreed: 0, failed: 0 }
  for (let seed = 1; seed <= schedules; seed++) {
    const { outcome, tookMs, isCertain } = await play(seed)
    expect(outcome, `seed ${seed}`).not.toContain(wrong)
    // If all nodes participate and enough are honest, their answer wins.
    if (isCertain) expect(outcome, `seed ${seed}`).toContain(truth)
    expect(tookMs, `seed ${seed}`).toBeLessThanOrEqual(processingTimeoutMs + 20)
    outcomes[outcome.includes(truth) ? 'agreed' : 'failed'] += 1
  }
  expect(outcomes.agreed).toBeGreaterThan(schedules / 5)
  expect(outcomes.failed).toBeGreaterThan(schedules / 20)
})
