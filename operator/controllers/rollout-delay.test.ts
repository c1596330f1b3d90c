// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { configMaps, deployments, rpcRouters } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

async function servingDesk(): Promise<OperatorHarness> {
  const desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

/** One `kubectl apply` of many providers. */
async function apply(desk: OperatorHarness, providers: number, everyMs: number): Promise<void> {
  for (let at = 0; at < providers; at++) {
    // Of another port each, so that pods are replaced.
    desk.provider(`p${at}`, `https://p${at}.example:${8000 + at}`)
    await desk.pass(everyMs)
  }
}

const generation = (desk: OperatorHarness) =>
  desk.get(deployments, 'r-router').metadata.generation ?? 0

describe('one apply of many providers', () => {
  test.each([
    ['20', 20, 100],
    ['20 at a slow API server', 20, 450],
    ['200', 200, 40],
  ])('of %s is one rollout', async (_, providers, everyMs) => {
    await using desk = await servingDesk()
    const before = generation(desk)
    await apply(desk, providers, everyMs)
    await desk.pass()
    expect(generation(desk) - before).toBe(1)
    expect(desk.events.filter((reason) => reason === 'ConfigRendered')).toHaveLength(2)
    const { providers: inUse } = desk.status(rpcRouters, 'r')['summary'] as { providers: string }
    expect(inUse).toBe(`${providers + 1}/${providers + 1}`)
    // Nor is a config made that no pod ever runs.
    expect(desk.names(configMaps)).toHaveLength(2)
  })

  test('with the router before them makes its objects once', async () => {
    await using desk = new OperatorHarness()
    desk.router('r')
    await apply(desk, 20, 100)
    await desk.pass()
    expect(generation(desk)).toBe(1)
  })
})

test('changes that never cease put a rollout off by ten seconds at most', async () => {
  await using desk = await servingDesk()
  const before = generation(desk)
  await apply(desk, 50, 500)
  await desk.pass()
  const rollouts = generation(desk) - before
  expect(rollouts).toBeGreaterThan(1)
  expect(rollouts).toBeLessThan(5)
})

test('what replaces no pod is not put off, and first pods are hardly', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass(700)
  desk.rollOut('r')
  await desk.pass()
  desk.router('r', { replicas: 5 })
  await desk.pass(150)
  expect(desk.get(deployments, 'r-router').spec.replicas).toBe(5)
})

test('an apply that is refused is tried again without waiting anew', async () => {
  await using desk = await servingDesk()
  desk.keeper.refuse = ({ plural, verb }) =>
    plural === 'deployments' && verb === 'patch' ? new Error('not now') : null
  desk.provider('b')
  await desk.pass(5_000)
  expect(desk.failures.length).toBeGreaterThan(5)
})
