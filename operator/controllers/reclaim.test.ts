// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import type { KubeClient } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { deployments, rpcRouters } from '../resources/kinds.ts'
import { childLabel } from '../resources/labels.ts'
import { ChildApplier } from './child-applier.ts'
import { ChildStores } from './child-stores.ts'
import { OperatorDesk } from './testing/operator-desk.ts'
import { ownedByPlainRouter, plainRouter } from './testing/plain-router.ts'

test('a Deployment that cannot be looked for is told of, and nothing is applied over it', async () => {
  await using desk = new OperatorDesk()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.keeper.refuse = ({ verb, plural }) =>
    verb === 'get' && plural === 'deployments'
      ? new ApiError('GET deployments r-router', 500, { message: 'etcdserver: no leader' })
      : null
  // As when the label is gone by which the watch selects.
  desk.remove(deployments, 'r-router')
  desk.router('r', { replicas: 3 })
  await desk.pass(500)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@1/)
  const { length } = desk.keeper.asked
  await desk.pass(5_000)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(
    /^False\/ApplyFailed@2: .*GET deployments r-router.*no leader/,
  )
  expect(desk.events).toEqual(expect.arrayContaining(['ApplyFailed']))
  const writes = desk.keeper.asked.slice(length).filter(({ verb }) => verb !== 'get')
  expect(new Set(writes.map(({ plural }) => plural))).toEqual(new Set(['rpcrouters', 'events']))
  desk.keeper.refuse = () => null
  await desk.pass(121_000)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@2/)
  expect(desk.get(deployments, 'r-router').spec.replicas).toBe(3)
})

test('a list that was begun before does not take away again what was found', async () => {
  const found = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'ns',
      name: 'r-router',
      uid: 'uid-of-the-deployment',
      resourceVersion: '4',
      ...ownedByPlainRouter,
    },
    spec: { template: { spec: { containers: [] } } },
  }
  const labelled = { ...found.metadata, labels: childLabel, resourceVersion: '6' }
  const client = {
    get: () => Promise.resolve(found),
    mergePatch: () => Promise.resolve({ ...found, metadata: labelled }),
  } as unknown as KubeClient
  const children = new ChildStores([deployments])
  const applier = new ChildApplier({
    ...{ client, children, clock: new VirtualClock() },
    applier: null as never,
  })
  children.store(deployments).reached('3')
  await applier.reclaim(plainRouter, deployments, 'r-router', new AbortController().signal)
  children.store(deployments).replace([], '5')
  expect(applier.latest(deployments, 'ns/r-router')?.metadata.resourceVersion).toBe('6')
})
