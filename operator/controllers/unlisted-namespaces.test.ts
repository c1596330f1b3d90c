// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ApiError } from '../kube/errors.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { deployments, podMonitors, rpcRouters, services } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/*
 * An operator of two namespaces, `ns` and `lost`. Some or all lists of `lost` are refused, as if
 * its Role had been deleted.
 */

function refuse(api: FakeApiServer, plurals: readonly string[] | null): void {
  api.refuse = ({ verb, plural, namespace }) =>
    verb === 'list' && namespace === 'lost' && (plurals?.includes(plural) ?? true)
      ? new ApiError(`GET ${plural}`, 403, { reason: 'Forbidden' })
      : null
}

function harnessWith(plurals: readonly string[] | null): OperatorHarness {
  const api = new FakeApiServer()
  refuse(api, plurals)
  return new OperatorHarness(api, ['ns', 'lost'])
}

const deploymentOf = (harness: OperatorHarness, namespace: string) =>
  harness.api.find(deployments, { namespace, name: 'r-router' })

function bothRouters(harness: OperatorHarness): void {
  for (const namespace of ['ns', 'lost']) {
    harness.provider('a', undefined, {}, { namespace })
    harness.router('r', {}, { namespace })
  }
}

test.each([
  ['nothing can be listed', null],
  ['ReplicaSets cannot be listed', ['replicasets']],
  ['providers cannot be listed', ['upstreamproviders']],
])('a namespace in which %s does not delay the others', async (_, plurals) => {
  await using harness = harnessWith(plurals)
  bothRouters(harness)
  await harness.pass(10_000)
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  harness.router('r', { replicas: 4 })
  await harness.pass()
  expect(harness.get(deployments, 'r-router').spec.replicas).toBe(4)
  expect([harness.operator.hasSynced, harness.operator.missing]).toEqual([false, ['lost']])
  // Without its lists, the operator touches nothing there.
  expect(deploymentOf(harness, 'lost')).toBeNull()
  expect(harness.failures).toEqual([])
  harness.api.refuse = () => null
  await harness.pass(120_000)
  expect(deploymentOf(harness, 'lost')).not.toBeNull()
  expect([harness.operator.hasSynced, harness.operator.missing]).toEqual([true, []])
})

test('nothing is written before a namespace is listed', async () => {
  const api = new FakeApiServer()
  api.refuse = ({ verb }) =>
    verb === 'list' ? new ApiError('GET', 403, { reason: 'Forbidden' }) : null
  await using harness = new OperatorHarness(api)
  bothRouters(harness)
  await harness.pass(10_000)
  expect([harness.operator.hasSynced, harness.operator.missing]).toEqual([false, [null]])
  expect(harness.api.requests.filter(({ verb }) => verb !== 'list')).toEqual([])
})

test('a kind that is installed later is used in namespaces where it can be listed', async () => {
  await using harness = harnessWith(null)
  bothRouters(harness)
  harness.router('r', { monitoring: { type: 'PodMonitor' } })
  await harness.pass()
  expect(harness.names(services)).toContain('r-router')
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/ProgrammedWithoutMonitor/)
  harness.api.installed.add(podMonitors.plural)
  await harness.pass(120_000)
  expect(harness.names(podMonitors)).toEqual(['r-router'])
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@/)
})
