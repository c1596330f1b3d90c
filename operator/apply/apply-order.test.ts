// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { ClusterCache } from '../cache/cluster-cache.ts'
import { ownedByPlainRouter, plainRouter as router } from '../controllers/testing/plain-router.ts'
import { ApiError } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import {
  childKinds,
  configMaps,
  deployments,
  podDisruptionBudgets,
  replicaSets,
  secrets,
  services,
  statefulSets,
} from '../resources/kinds.ts'
import { childLabels } from '../resources/labels.ts'
import { buildRedis } from '../resources/redis.ts'
import type { RedisComponent } from '../translate/object-names.ts'
import { ApplyOrder } from './apply-order.ts'
import { ChildApplier } from './child-applier.ts'

const { signal } = new AbortController()
const context = {
  images: { router: 'router:test', redis: 'redis:test' },
  monitors: new Set<string>(),
  chainIdOf: (chainId: string) => chainId,
}

/** Returns a ReplicaSet whose pods use the password of a managed Redis. */
function replicaSet(component: RedisComponent, replicas: number): KubeObject {
  const secretKeyRef = { name: `r-${component}`, key: 'password' }
  const env = [{ name: 'REDIS_PASSWORD', valueFrom: { secretKeyRef } }]
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace: 'ns', name: 'r-router-1', labels: childLabels(router, 'router') },
    spec: { replicas, template: { spec: { containers: [{ name: 'router', env }] } } },
  } as KubeObject
}

function applierOn({ client }: FakeApiServer) {
  const cache = new ClusterCache([...childKinds])
  const clock = new VirtualClock()
  const children = new ChildApplier({ client, children: cache.children, clock })
  const { replicaSets } = cache
  const fleet = new ApplyOrder({ client, children, replicaSets })
  return { fleet, cache }
}

test.each([
  ['redis', 'redis-cache'],
  ['redis-cache', 'redis'],
] as const)('the %s and its Secret are deleted once no pod uses them', async (used, unused) => {
  const api = new FakeApiServer()
  const { fleet, cache } = applierOn(api)
  const redis = [used, unused].flatMap((component) =>
    buildRedis(router, { component, settings: {} }, 'password', context),
  )
  const apply = (objects: readonly KubeObject[]) =>
    fleet.apply(router, { fixedHash: 'a', current: null, objects }, signal)
  const left = () =>
    [statefulSets, secrets, services].map((kind) =>
      api.list(kind).map(({ metadata }) => metadata.name),
    )

  api.put(replicaSets, replicaSet(used, 2))
  await apply(redis)
  for (const resource of childKinds)
    for (const object of api.list(resource))
      cache.children.store(resource).set(structuredClone(object))
  const both = [`r-${used}`, `r-${unused}`]
  expect(left()).toEqual([both, both, both])
  // The router no longer wants them, but an old pod still uses one.
  await apply([])
  expect(left()).toEqual([[`r-${used}`], [`r-${used}`], [`r-${used}`]])
  api.put(replicaSets, replicaSet(used, 0))
  await apply([])
  expect(left()).toEqual([[], [], []])
})

test('pods wait for a Redis whose StatefulSet is refused, and independent objects do not', async () => {
  const api = new FakeApiServer()
  const { fleet } = applierOn(api)
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'ns', name: 'r-router-a', labels: childLabels(router, 'router') },
  }
  const redis = buildRedis(router, { component: 'redis', settings: {} }, 'password', context)
  const refusal = new ApiError('PATCH', 403, { message: 'exceeded quota' })
  api.refuse = ({ plural, verb }) =>
    plural === 'statefulsets' && verb === 'patch' ? refusal : null
  const wanted = { fixedHash: 'a', current: null, objects: [...redis, config] }
  const { applied, error } = await fleet.apply(router, wanted, signal)
  expect(applied.result).toBe('refused')
  expect(error).toBe(refusal)
  expect(api.list(configMaps)).toEqual([])
  expect(api.list(podDisruptionBudgets)).toHaveLength(1)
})

test('prune keeps the config of a Deployment that no watch has reported and that has no ReplicaSet yet', async () => {
  const api = new FakeApiServer()
  const { fleet, cache } = applierOn(api)
  const labels = childLabels(router, 'router')
  for (const hash of ['before', 'now', 'refused', 'wanted']) {
    const metadata = { namespace: 'ns', name: `r-router-${hash}`, labels, ...ownedByPlainRouter }
    const put = api.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    cache.children.store(configMaps).set(structuredClone(put))
  }
  const annotations = { 'rpcrouter.dev/fixed-hash': 'now' }
  api.put(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'ns', name: 'r-router', labels },
    spec: { template: { metadata: { annotations }, spec: { containers: [] } } },
  } as KubeObject)
  await fleet.apply(router, { fixedHash: 'wanted', current: 'before', objects: [] }, signal)
  expect(api.list(configMaps).map(({ metadata }) => metadata.name)).toEqual([
    'r-router-before',
    'r-router-now',
    'r-router-wanted',
  ])
})
