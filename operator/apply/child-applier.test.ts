// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { ApiError } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { childKinds, rpcRouters, services, statefulSets } from '../resources/kinds.ts'

function writes(harness: OperatorHarness): readonly string[] {
  const plurals = childKinds.map(({ plural }) => plural)
  return harness.api.requests
    .filter(({ verb, plural }) => verb !== 'list' && plurals.includes(plural))
    .map(({ verb, plural }) => `${verb} ${plural}`)
}

test('each object of a new router is one request', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  const all = writes(harness)
  expect(all.length).toBeGreaterThan(4)
  expect(new Set(all).size).toBe(all.length)
  expect(all.filter((each) => !each.startsWith('patch'))).toEqual([])
})

test('an existing object of the same name is not touched, even if no watch has reported it', async () => {
  await using harness = new OperatorHarness()
  harness.api.deaf.add(services.plural)
  await harness.pass()
  const metadata = { namespace: 'ns', name: 'r-router' }
  harness.api.put(services, { apiVersion: 'v1', kind: 'Service', metadata })
  await expectConflict(harness)
})

async function expectConflict(harness: OperatorHarness): Promise<void> {
  const theirs = harness.get(services, 'r-router')
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/NameConflict@1/)
  expect(harness.get(services, 'r-router')).toEqual(theirs)
}

function ownedBy(apiVersion: string, uid: string): KubeObject {
  const ownerReferences = [{ apiVersion, kind: 'RpcRouter', name: 'r', uid, controller: true }]
  const metadata = { namespace: 'ns', name: 'r-router', ownerReferences }
  return { apiVersion: 'v1', kind: 'Service', metadata }
}

test('an object of another group’s RpcRouter of the same name is not touched', async () => {
  await using harness = new OperatorHarness()
  harness.api.put(services, ownedBy('other.dev/v1', 'uid-of-theirs'))
  await expectConflict(harness)
})

test.each(['rpcrouter.dev/v1alpha1', 'rpcrouter.dev/v1'])(
  'an object of a deleted RpcRouter of %s is waited for',
  async (apiVersion) => {
    await using harness = new OperatorHarness()
    harness.api.put(services, ownedBy(apiVersion, 'uid-of-one-that-is-gone'))
    harness.provider('a')
    harness.router('r')
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/StillDeleting@1/)
    harness.remove(services, 'r-router')
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  },
)

test('an object of a newer router of the same name is not touched while the watch lags', async () => {
  const api = new FakeApiServer()
  api.deaf.add(rpcRouters.plural)
  await using harness = new OperatorHarness(api)
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  harness.remove(rpcRouters, 'r')
  harness.remove(services, 'r-router')
  harness.router('r')
  const { uid } = harness.get(rpcRouters, 'r').metadata
  harness.api.put(services, ownedBy('rpcrouter.dev/v1alpha1', uid))
  const theirs = harness.get(services, 'r-router')
  harness.provider('b')
  await harness.pass()
  expect(harness.get(services, 'r-router')).toEqual(theirs)
  expect(harness.api.requests.map(({ verb, plural }) => `${verb} ${plural}`)).not.toContain(
    'delete services',
  )
})

test('an own object is applied again after a lost answer, even if no watch has reported it', async () => {
  await using harness = new OperatorHarness()
  harness.api.deaf.add(services.plural)
  let isLost = true
  harness.api.refuse = ({ verb, plural }) => {
    if (!isLost || verb !== 'patch' || plural !== services.plural) return null
    isLost = false
    const owner = { apiVersion: 'rpcrouter.dev/v1alpha1', kind: 'RpcRouter', name: 'r' }
    const { uid } = harness.get(rpcRouters, 'r').metadata
    const ownerReferences = [{ ...owner, uid, controller: true }]
    const metadata = { namespace: 'ns', name: 'r-router', ownerReferences }
    harness.api.put(services, { apiVersion: 'v1', kind: 'Service', metadata })
    return new ApiError('PATCH services', 504, { reason: 'Timeout' })
  }
  harness.provider('a')
  harness.router('r')
  await harness.pass(5_000)
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  expect(harness.get(services, 'r-router').spec.ports).toMatchObject([{ name: 'eth1', port: 3360 }])
})

test('an object without its owner reference gets it back', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  const service = harness.get(services, 'r-router')
  const metadata = { ...service.metadata, ownerReferences: [] }
  harness.api.put(services, { ...service, metadata })
  await harness.pass()
  expect(harness.get(services, 'r-router').metadata.ownerReferences).toMatchObject([{ name: 'r' }])
})

test('objects orphaned by --cascade=orphan are adopted by the next router of the same name', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  harness.remove(rpcRouters, 'r')
  for (const resource of childKinds)
    for (const object of harness.api.list(resource)) {
      const { ownerReferences: _, ...metadata } = object.metadata
      harness.api.put(resource, { ...object, metadata: { ...metadata, ownerReferences: [] } })
    }
  await harness.pass()
  const before = harness.get(services, 'r-router').metadata.uid
  harness.router('r')
  await harness.pass()
  const { uid } = harness.get(rpcRouters, 'r').metadata
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  expect(harness.get(services, 'r-router').metadata).toMatchObject({
    uid: before,
    ownerReferences: [{ name: 'r', uid }],
  })
})

test('the message about an object that is being deleted names its actual owner', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  const service = harness.get(services, 'r-router')
  const metadata = { ...service.metadata, finalizers: ['example.com/load-balancer'] }
  harness.api.put(services, { ...service, metadata })
  harness.remove(services, 'r-router')
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toBe(
    'False/StillDeleting@1: the Service r-router of this RpcRouter is still being deleted, held by its finalizers: example.com/load-balancer.',
  )
  harness.api.finish(services, { namespace: 'ns', name: 'r-router' })
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  expect(harness.get(services, 'r-router').metadata).not.toHaveProperty('deletionTimestamp')
})

test.each([
  ['1.36 and older', 'spec', 'FieldValueForbidden', 'updates to statefulset spec are forbidden'],
  ['1.37', 'spec.volumeClaimTemplates', 'FieldValueInvalid', 'field is immutable'],
])(
  'a StatefulSet whose storage Kubernetes %s refuses to change is replaced',
  async (_, field, reason, message) => {
    await using harness = new OperatorHarness()
    const share = (managed: object) =>
      harness.router('r', { sharedState: { mode: 'Managed', managed } })
    harness.provider('a')
    share({ storage: { size: '1Gi' } })
    await harness.pass(5_000)
    const { uid } = harness.get(statefulSets, 'r-redis').metadata
    harness.api.refuse = ({ verb, plural }) => {
      const isOld = harness.names(statefulSets).includes('r-redis')
      if (!isOld || verb !== 'patch' || plural !== statefulSets.plural) return null
      const body = { reason: 'Invalid', message, details: { causes: [{ field, reason }] } }
      return new ApiError('PATCH statefulsets', 422, body)
    }
    share({})
    await harness.pass(5_000)
    expect(harness.get(statefulSets, 'r-redis').metadata.uid).not.toBe(uid)
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  },
)
