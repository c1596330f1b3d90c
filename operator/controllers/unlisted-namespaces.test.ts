// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ApiError } from '../kube/errors.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { deployments, podMonitors, rpcRouters, services } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/*
 * An operator of two namespaces, `ns` and `lost`; of the other one some or all lists are refused, as when its Role went
 * with it.
 */

function refuse(keeper: FakeApiServer, plurals: readonly string[] | null): void {
  keeper.refuse = ({ verb, plural, namespace }) =>
    verb === 'list' && namespace === 'lost' && (plurals?.includes(plural) ?? true)
      ? new ApiError(`GET ${plural}`, 403, { reason: 'Forbidden' })
      : null
}

function deskWith(plurals: readonly string[] | null): OperatorHarness {
  const keeper = new FakeApiServer()
  refuse(keeper, plurals)
  return new OperatorHarness(keeper, ['ns', 'lost'])
}

const deploymentOf = (desk: OperatorHarness, namespace: string) =>
  desk.keeper.find(deployments, { namespace, name: 'r-router' })

function bothRouters(desk: OperatorHarness): void {
  for (const namespace of ['ns', 'lost']) {
    desk.provider('a', undefined, {}, { namespace })
    desk.router('r', {}, { namespace })
  }
}

test.each([
  ['nothing can be listed', null],
  ['ReplicaSets cannot be listed', ['replicasets']],
  ['providers cannot be listed', ['upstreamproviders']],
])('a namespace in which %s holds up no other', async (_, plurals) => {
  await using desk = deskWith(plurals)
  bothRouters(desk)
  await desk.pass(10_000)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  desk.router('r', { replicas: 4 })
  await desk.pass()
  expect(desk.get(deployments, 'r-router').spec.replicas).toBe(4)
  expect([desk.operator.hasSynced, desk.operator.missing]).toEqual([false, ['lost']])
  // Too little is known there to touch anything.
  expect(deploymentOf(desk, 'lost')).toBeNull()
  expect(desk.failures).toEqual([])
  desk.keeper.refuse = () => null
  await desk.pass(120_000)
  expect(deploymentOf(desk, 'lost')).not.toBeNull()
  expect([desk.operator.hasSynced, desk.operator.missing]).toEqual([true, []])
})

test('nothing is done before any namespace was listed', async () => {
  const keeper = new FakeApiServer()
  keeper.refuse = ({ verb }) =>
    verb === 'list' ? new ApiError('GET', 403, { reason: 'Forbidden' }) : null
  await using desk = new OperatorHarness(keeper)
  bothRouters(desk)
  await desk.pass(10_000)
  expect([desk.operator.hasSynced, desk.operator.missing]).toEqual([false, [null]])
  expect(desk.keeper.requests.filter(({ verb }) => verb !== 'list')).toEqual([])
})

test('a kind that is installed later is used where it can be listed', async () => {
  await using desk = deskWith(null)
  bothRouters(desk)
  desk.router('r', { monitoring: { type: 'PodMonitor' } })
  await desk.pass()
  expect(desk.names(services)).toContain('r-router')
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/ProgrammedWithoutMonitor/)
  desk.keeper.installed.add(podMonitors.plural)
  await desk.pass(120_000)
  expect(desk.names(podMonitors)).toEqual(['r-router'])
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@/)
})
