// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { configMaps, deployments, rpcRouters } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/** Applies many providers, like one `kubectl apply`. */
async function apply(harness: OperatorHarness, providers: number, everyMs: number): Promise<void> {
  for (let at = 0; at < providers; at++) {
    // A new port replaces the pods.
    harness.provider(`p${at}`, `https://p${at}.example:${8000 + at}`)
    await harness.pass(everyMs)
  }
}

const generation = (harness: OperatorHarness) =>
  harness.get(deployments, 'r-router').metadata.generation ?? 0

describe('one apply of many providers', () => {
  test.each([
    ['20', 20, 100],
    ['20 at a slow API server', 20, 450],
    ['200', 200, 40],
  ])('of %s is one rollout', async (_, providers, everyMs) => {
    await using harness = await OperatorHarness.serving()
    const before = generation(harness)
    await apply(harness, providers, everyMs)
    await harness.pass()
    expect(generation(harness) - before).toBe(1)
    expect(harness.events.filter((reason) => reason === 'ConfigRendered')).toHaveLength(2)
    const { providers: inUse } = harness.status(rpcRouters, 'r')['summary'] as { providers: string }
    expect(inUse).toBe(`${providers + 1}/${providers + 1}`)
    // No config is created that no pod would ever run.
    expect(harness.names(configMaps)).toHaveLength(2)
  })

  test('after the router creates its objects once', async () => {
    await using harness = new OperatorHarness()
    harness.router('r')
    await apply(harness, 20, 100)
    await harness.pass()
    expect(generation(harness)).toBe(1)
  })
})

test('continuous changes delay a rollout by at most ten seconds', async () => {
  await using harness = await OperatorHarness.serving()
  const before = generation(harness)
  await apply(harness, 50, 500)
  await harness.pass()
  const rollouts = generation(harness) - before
  expect(rollouts).toBeGreaterThan(1)
  expect(rollouts).toBeLessThan(5)
})

test('a change that replaces no pod is not delayed, and the first pods start soon', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass(700)
  harness.rollOut('r')
  await harness.pass()
  harness.router('r', { replicas: 5 })
  await harness.pass(150)
  expect(harness.get(deployments, 'r-router').spec.replicas).toBe(5)
})

test('a refused apply is retried without another delay', async () => {
  await using harness = await OperatorHarness.serving()
  harness.api.refuse = ({ plural, verb }) =>
    plural === 'deployments' && verb === 'patch' ? new Error('not now') : null
  harness.provider('b')
  await harness.pass(5_000)
  expect(harness.failures.length).toBeGreaterThan(5)
})
