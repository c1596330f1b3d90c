// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { ApiError } from '../kube/errors.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { createMetrics } from './metrics.ts'
import { rpcRouters } from '../resources/kinds.ts'
import { series } from './series.ts'

/** Returns a function that reads one series. */
function reader(harness: OperatorHarness): (series: string) => Promise<number> {
  const metrics = createMetrics()
  metrics.follow(harness.operator)
  return async (series) => {
    const page = await metrics.scrape()
    const line = page.split('\n').find((each) => each.startsWith(`${series} `))
    return Number(line?.slice(series.length + 1))
  }
}

test('silence counts from the start until the first list succeeds', async () => {
  const api = new FakeApiServer()
  api.refuse = ({ verb }) =>
    verb === 'list' ? new ApiError('GET', 403, { reason: 'Forbidden' }) : null
  await using harness = new OperatorHarness(api, ['lost'])
  const read = reader(harness)
  const series = 'rpc_operator_watch_silent_seconds'
  await harness.pass(600_000)
  expect(await read(series)).toBe(600)
  api.refuse = () => null
  await harness.pass(120_000)
  const since = await read(series)
  expect(since).toBeGreaterThan(0)
  expect(since).toBeLessThanOrEqual(120)
})

test('exactly the series of the table are served, with their types', async () => {
  await using harness = new OperatorHarness()
  const metrics = createMetrics()
  metrics.follow(harness.operator)
  const served = [...(await metrics.scrape()).matchAll(/^# TYPE (.*)$/gm)].map(
    ([, type = '']) => type,
  )
  const table = Object.values(series).map(({ name, type }) => `${name} ${type}`)
  expect(new Set(served)).toEqual(new Set(table))
  expect(served).toHaveLength(table.length)
})

test('the metrics of a router follow Ready, and stalled and stopped rollouts', async () => {
  await using harness = new OperatorHarness()
  const read = reader(harness)
  const shown = async () =>
    Promise.all(
      ['ready', 'stalled', 'stopped'].map((name) =>
        read(`rpc_operator_router_${name}{namespace="ns",name="r"}`),
      ),
    )
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  expect(await shown()).toEqual([0, 0, 0])
  harness.count('r', { replicas: 2, updatedReplicas: 2 }, 'ProgressDeadlineExceeded')
  await harness.pass()
  expect(await shown()).toEqual([0, 1, 0])
  harness.count('r', { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 })
  await harness.pass()
  expect(await shown()).toEqual([1, 0, 0])
  harness.remove(rpcRouters, 'r')
  await harness.pass()
  expect(await shown()).toEqual([Number.NaN, Number.NaN, Number.NaN])
})
