// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import { Applier } from '../kube/applier.ts'
import type { KubeObject } from '../kube/object.ts'
import { ObjectKeeper } from '../kube/testing/object-keeper.ts'
import { buildRedis } from '../resources/build-children.ts'
import {
  childKinds,
  configMaps,
  deployments,
  replicaSets,
  secrets,
  statefulSets,
} from '../resources/kinds.ts'
import { childLabels } from '../resources/labels.ts'
import { ChildApplier } from './child-applier.ts'
import { DeploymentApplier } from './deployment-applier.ts'
import { FleetApplier } from './fleet-applier.ts'
import { Revisions } from './revisions.ts'
import { World } from './world.ts'

const { signal } = new AbortController()
const router = rpcRouterSchema.parse({
  apiVersion: 'rpcrouter.dev/v1alpha1',
  kind: 'RpcRouter',
  metadata: { namespace: 'ns', name: 'r', uid: 'uid-of-r', generation: 1 },
  spec: { endpoints: [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }] },
})

/** A ReplicaSet whose pods have the password of the managed Redis. */
function replicaSet(replicas: number): KubeObject {
  const secretKeyRef = { name: 'r-redis', key: 'password' }
  const env = [{ name: 'REDIS_PASSWORD', valueFrom: { secretKeyRef } }]
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace: 'ns', name: 'r-router-1', labels: childLabels(router, 'router') },
    spec: { replicas, template: { spec: { containers: [{ name: 'router', env }] } } },
  } as KubeObject
}

function applierOn({ client }: ObjectKeeper) {
  const world = new World([...childKinds])
  const applier = new Applier({ client, fieldManager: 'f', statusManager: 's' })
  const clock = new VirtualClock()
  const children = new ChildApplier({ client, applier, children: world.children, clock })
  const revisions = new Revisions(client, world.replicaSets)
  const deploymentApplier = new DeploymentApplier(client, children)
  const fleet = new FleetApplier(children, deploymentApplier, revisions, () => {})
  return { fleet, world }
}

test('a Redis goes when no pod uses it any more, its Secret with it', async () => {
  const keeper = new ObjectKeeper()
  const { fleet } = applierOn(keeper)
  const context = {
    images: { router: 'router:test', redis: 'redis:test' },
    monitors: new Set<string>(),
    chainIdOf: (chainId: string) => chainId,
  }
  const redis = buildRedis(router, { kind: 'managed', settings: {} }, 'password', context)
  const apply = (objects: readonly KubeObject[]) =>
    fleet.apply(router, { configHash: 'a', current: undefined, objects }, signal)
  const left = () => [...keeper.list(statefulSets), ...keeper.list(secrets)].length

  keeper.put(replicaSets, replicaSet(2))
  await apply(redis)
  expect(left()).toBe(2)
  // It is no longer asked for, but the pods that roll away still talk to it.
  await apply([])
  expect(left()).toBe(2)
  keeper.put(replicaSets, replicaSet(0))
  await apply([])
  expect(left()).toBe(0)
})

test('the config that the Deployment asks for by now stays, though no watch told of it and it has no ReplicaSet yet', async () => {
  const keeper = new ObjectKeeper()
  const { fleet, world } = applierOn(keeper)
  const owner = { apiVersion: router.apiVersion, kind: router.kind, controller: true }
  const ownerReferences = [{ ...owner, name: 'r', uid: 'uid-of-r' }]
  const labels = childLabels(router, 'router')
  for (const hash of ['before', 'now', 'refused', 'wanted']) {
    const metadata = { namespace: 'ns', name: `r-router-${hash}`, labels, ownerReferences }
    const put = keeper.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    world.children.store(configMaps).set(structuredClone(put))
  }
  const annotations = { 'rpcrouter.dev/config-hash': 'now' }
  keeper.put(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'ns', name: 'r-router', labels },
    spec: { template: { metadata: { annotations }, spec: { containers: [] } } },
  } as KubeObject)
  await fleet.apply(router, { configHash: 'wanted', current: 'before', objects: [] }, signal)
  expect(keeper.list(configMaps).map(({ metadata }) => metadata.name)).toEqual([
    'r-router-before',
    'r-router-now',
    'r-router-wanted',
  ])
})
