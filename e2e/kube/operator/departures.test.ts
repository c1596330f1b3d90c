// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listAll } from '../../../operator/kube/reflector.ts'
import type { Resource } from '../../../operator/kube/object.ts'
import { rpcRouters, upstreamProviders } from '../../../operator/resources/kinds.ts'
import { clientOf } from '../access.ts'
import { eventually } from '../../processes/eventually.ts'
import { installCrds, kubectlFor, printed } from '../kubectl.ts'
import { namespaces } from '../resources.ts'
import { startCluster } from '../test-cluster.ts'
import { type TestNamespace, useNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { grantRules, type OperatorPlace, quiet, runOperator } from './running-operator.ts'

const shared = useNamespace()
let place: TestNamespace

beforeEach(async () => {
  place = { ...shared, namespace: `leaving-${randomBytes(5).toString('hex')}` }
  await createNamespace()
})

const [grantedRoles, bindings] = (['Role', 'RoleBinding'] as const).map((kind): Resource => {
  const group = 'rbac.authorization.k8s.io'
  return { group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true }
}) as [Resource, Resource]

/** The RBAC objects of an operator in a namespace, to restore them after its deletion. */
async function rightsIn({ client, namespace, signal }: TestNamespace) {
  const found = [grantedRoles, bindings].map(async (resource) => {
    const { items } = await listAll(client, resource, { namespace }, signal)
    return items.map((item) => {
      const { name } = item.metadata
      return { resource, object: { ...item, metadata: { namespace, name } } }
    })
  })
  return (await Promise.all(found)).flat()
}

afterEach(() => deleteNamespace())

async function createNamespace(): Promise<void> {
  const metadata = { name: place.namespace }
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata }
  await place.client.create(namespaces, object, place.signal)
}

async function deleteNamespace(): Promise<void> {
  await place.client.delete(namespaces, { name: place.namespace }, place.signal)
}

/** A cluster with only the namespace of the test. */
async function ownCluster(): Promise<AsyncDisposable> {
  const { folder, access, kubeconfig, ...cluster } = await startCluster()
  const before = place
  place = { ...place, folder, access, kubeconfig, client: clientOf(access) }
  await installCrds(kubectlFor(kubeconfig, place.namespace))
  await createNamespace()
  const { client } = place
  return {
    async [Symbol.asyncDispose]() {
      place = before
      await client.close()
      await cluster[Symbol.asyncDispose]()
    },
  }
}

const routers = Array.from({ length: 8 }, (_, index) => `r${index}`)

async function startFleet(where: OperatorPlace['namespaces']) {
  const fleet = new Fleet(place)
  const running = await runOperator({ ...place, namespaces: where })
  for (const router of routers) {
    await fleet.provider(router, `${router}-a`)
    await fleet.router(router)
  }
  for (const router of routers) await fleet.routerIs(router, 'Programmed', 'Programmed')
  await quiet(running)
  return { fleet, running }
}

async function isEmpty(fleet: Fleet): Promise<boolean> {
  const all = await Promise.all([fleet.list(rpcRouters), fleet.list(upstreamProviders)])
  return all.every(({ length }) => length === 0)
}

test.each([
  ['all namespaces', null],
  ['its namespaces, whose Roles are deleted first', 'own'],
] as const)(
  'the deletion of a namespace is not a failure for an operator of %s',
  async (_, where) => {
    // An operator for all namespaces would also work on those of other test files.
    const cluster = where === null ? await ownCluster() : null
    const { fleet, running } = await startFleet(where === null ? null : [place.namespace])
    try {
      await deleteNamespace()
      await eventually(() => isEmpty(fleet))
      await quiet(running)
      expect(running.failures).toEqual([])
      const refused = running.requests.filter(
        ({ verb, outcome }) => verb !== 'list' && outcome === 403,
      )
      // Only in-flight requests fail, not one per deleted object.
      const objects = refused.filter(({ resource }) => resource !== 'events')
      if (where === null)
        expect(objects.length, JSON.stringify(refused)).toBeLessThan(2 * routers.length)
    } finally {
      // A terminating namespace refuses requests without any missing RBAC rule.
      await Promise.allSettled([running.stop()])
      await cluster?.[Symbol.asyncDispose]()
    }
  },
)

test('a missing namespace blocks no other, and is served once it exists', async () => {
  const both = { ...place, namespaces: [shared.namespace, place.namespace] }
  const access = await grantRules(both)
  const rights = await rightsIn(place)
  await deleteNamespace()
  const [stays, gone] = [new Fleet(shared), new Fleet(place)]
  await eventually(async () => {
    const left = await listAll(shared.client, namespaces, {}, shared.signal)
    expect(left.items.map(({ metadata }) => metadata.name)).not.toContain(place.namespace)
  })
  const running = await runOperator(both, { as: access })
  try {
    await stays.provider('stays', 'stays-a')
    await stays.router('stays')
    await stays.routerIs('stays', 'Programmed', 'Programmed')
    expect(running.operator.missing).toEqual([place.namespace])
    const page = await running.metrics.scrape()
    expect(page).not.toMatch(/^rpc_operator_watch_silent_seconds 0$/m)
    await createNamespace()
    await gone.provider('back', 'back-a')
    await gone.router('back')
    for (const { resource, object } of rights)
      await place.client.create(resource, object, place.signal)
    await gone.routerIs('back', 'Programmed', 'Programmed')
    expect(running.operator.hasSynced).toBe(true)
    expect(running.failures).toEqual([])
  } finally {
    await Promise.allSettled([running.stop()])
  }
})

test('deleting all routers and providers at once causes no failure', async () => {
  const { fleet, running } = await startFleet([place.namespace])
  const kubectl = kubectlFor(place.kubeconfig, place.namespace)
  await printed(kubectl(['delete', 'rpcr,upp', '--all']))
  await eventually(() => isEmpty(fleet))
  await quiet(running)
  expect(running.failures).toEqual([])
  await running.stop()
})
