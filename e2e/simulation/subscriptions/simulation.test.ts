// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test, vi } from 'vitest'
import { ethereum } from '../../../proxy/relay/testing/relay-fixture.ts'
import { runSeeds } from '../runner/run-seeds.ts'
import { drawSubscriptionSchedule, forcedFailovers } from './schedule.ts'
import { simulateSubscriptions } from './simulation.ts'

const spec = await ethereum()
const subscriptions = { draw: drawSubscriptionSchedule, run: simulateSubscriptions }

// A busy machine may need minutes instead of seconds.
vi.setConfig({ testTimeout: 600_000 })

test('subscriptions keep every invariant over 16 seeds', async () => {
  const { counts, failures } = await runSeeds(subscriptions, { from: 1, until: 16 }, spec)
  expect(failures).toEqual([])
  expect(counts).toMatchObject({ schedules: 16 })
  for (const name of ['events', 'failovers', 'filled', 'forks', 'reorgs'])
    expect(counts[name], name).toBeGreaterThan(10)
})

test('200 failovers in a row, with reorganisations, leave no gap and no duplicate', async () => {
  const { violations, counts } = await simulateSubscriptions(forcedFailovers(1, 200), spec)
  expect(violations).toEqual([])
  expect(counts['failovers']).toBeGreaterThanOrEqual(200)
  expect(counts['reorgs']).toBeGreaterThan(50)
})

test.each([2, 12, 29])('seed %i produces the same trace each time', async (seed) => {
  const first = await simulateSubscriptions(drawSubscriptionSchedule(seed), spec)
  const second = await simulateSubscriptions(drawSubscriptionSchedule(seed), spec)
  expect(first.trace().length).toBeGreaterThan(10)
  expect(second.trace()).toEqual(first.trace())
})

test('an engine that cannot backfill leaves gaps', async () => {
  // Backfill needs blocks by hash, which no upstream serves here.
  const { iface } = spec
  const blind = {
    ...spec,
    iface: {
      ...iface,
      classify(question: Parameters<typeof iface.classify>[0]) {
        const method = iface.classify(question)
        return method.name === 'eth_getBlockByHash' ? { ...method, addon: 'none' } : method
      },
    },
  }
  const { violations } = await simulateSubscriptions(forcedFailovers(1, 8), blind)
  expect(violations.map(({ rule }) => rule)).toContain('no-hole')
})
