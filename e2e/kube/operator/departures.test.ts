// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { rpcRouters, upstreamProviders } from '../../../operator/resources/kinds.ts'
import { eventually } from '../eventually.ts'
import { installCrds } from '../install-crds.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { namespaces } from '../resources.ts'
import { type TestNamespace, useNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { type OperatorPlace, quiet, runOperator } from './running-operator.ts'

const shared = useNamespace()
let place: TestNamespace

beforeAll(() => installCrds(kubectlFor(shared.kubeconfig, shared.namespace)))

beforeEach(async () => {
  const namespace = `leaving-${randomBytes(5).toString('hex')}`
  await shared.client.create(
    namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    shared.signal,
  )
  place = { ...shared, namespace }
})

afterEach(() => deleteNamespace())

async function deleteNamespace(): Promise<void> {
  await place.client.delete(namespaces, { name: place.namespace }, {}, place.signal)
}

const routers = Array.from({ length: 20 }, (_, index) => `r${index}`)

async function startFleet(where: OperatorPlace['namespaces']) {
  const fleet = new Fleet(place)
  const running = await runOperator({ ...place, namespaces: where })
  for (const router of routers) {
    await fleet.provider(router, `${router}-a`)
    await fleet.router(router)
  }
  for (const router of routers) await fleet.routerIs(router, 'Programmed', 'Programmed', 60_000)
  await quiet(running)
  return { fleet, running }
}

async function isEmpty(fleet: Fleet): Promise<boolean> {
  const all = await Promise.all([fleet.list(rpcRouters), fleet.list(upstreamProviders)])
  return all.every(({ length }) => length === 0)
}

test.each([
  ['all namespaces', null],
  ['its namespaces, whose Roles go first', 'own'],
] as const)(
  'a namespace that is deleted is no failure, for an operator of %s',
  async (_, where) => {
    const { fleet, running } = await startFleet(where === null ? null : [place.namespace])
    try {
      await deleteNamespace()
      await eventually(() => isEmpty(fleet), 40_000)
      await quiet(running)
      expect(running.failures).toEqual([])
      const refused = running.asked.filter(
        ({ verb, outcome }) => verb !== 'list' && outcome === 403,
      )
      // As many as were under way, and not one for each object that goes.
      const objects = refused.filter(({ resource }) => resource !== 'events')
      if (where === null)
        expect(objects.length, JSON.stringify(refused)).toBeLessThan(routers.length)
    } finally {
      // What a namespace refuses that goes is no right that is wanting.
      await Promise.allSettled([running.stop()])
    }
  },
)

test('routers and providers that are deleted all at once are no failure', async () => {
  const { fleet, running } = await startFleet([place.namespace])
  const kubectl = kubectlFor(place.kubeconfig, place.namespace)
  await printed(kubectl(['delete', 'rpcr,upp', '--all']))
  await eventually(() => isEmpty(fleet))
  await quiet(running)
  expect(running.failures).toEqual([])
  await running.stop()
})
