// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import { withoutManagedFields } from '../../../operator/kube/object.ts'
import { Reflector } from '../../../operator/kube/reflector.ts'
import { Store } from '../../../operator/kube/store.ts'
import { systemClock } from '../../../operator/kube/clock.ts'
import {
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  rpcRouters,
} from '../../../operator/resources/kinds.ts'
import { isNotFound } from '../../../operator/kube/errors.ts'
import { eventually } from '../../processes/eventually.ts'
import { kubectlFor } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { quiet, type RunningOperator, runOperator } from './running-operator.ts'

const place = useNamespace()
const fleet = new Fleet(place)
/** Every replica count of a Deployment, by name. */
const counts = new Map<string, number[]>()
let running: RunningOperator

beforeAll(async () => {
  running = await runOperator({ ...place, namespaces: [place.namespace] })
  const store = new Store<Deployment>()
  store.subscribe(({ object }) => {
    const { name } = object.metadata
    counts.set(name, [...(counts.get(name) ?? []), object.spec.replicas ?? 0])
  })
  const reflector = new Reflector({
    client: place.client,
    resource: deployments,
    store,
    clock: systemClock,
    random: seededRandom(1),
    selection: { namespace: place.namespace },
    keep: withoutManagedFields,
  })
  void reflector.run(place.signal)
})

afterAll(() => running.stop())

const autoscaling = { minReplicas: 2, maxReplicas: 10 }

/** Writes the replica count through the scale subresource, like an autoscaler. */
async function scale(router: string, replicas: number): Promise<void> {
  const ref = { namespace: place.namespace, name: `${router}-router` }
  await place.client.mergePatch(deployments, ref, { spec: { replicas } }, place.signal, 'scale')
}

async function count(router: string): Promise<number | undefined> {
  return (await fleet.get(deployments, `${router}-router`)).spec.replicas
}

test('turning autoscaling on leaves the replica count to the autoscaler', async () => {
  await fleet.provider('on', 'on-a')
  await fleet.router('on', { replicas: 5 })
  await fleet.routerIs('on', 'Programmed', 'Programmed')
  expect(await count('on')).toBe(5)
  await fleet.patch(rpcRouters, 'on', { spec: { replicas: null, autoscaling } })
  await eventually(() => fleet.get(horizontalPodAutoscalers, 'on-router'))
  await fleet.routerIs('on', 'Programmed', 'Programmed')
  await quiet(running)
  await scale('on', 7)
  await fleet.patch(rpcRouters, 'on', { spec: { relay: { strategy: 'latency' } } })
  await fleet.routerIs('on', 'Programmed', 'Programmed')
  await quiet(running)
  expect(await count('on')).toBe(7)
  expect(counts.get('on-router')?.every((each) => each >= 5)).toBe(true)
})

test('turning autoscaling on at 0 replicas starts with the minimum', async () => {
  await fleet.provider('asleep', 'asleep-a')
  await fleet.router('asleep', { replicas: 0 })
  await fleet.routerIs('asleep', 'Available', 'ScaledToZero')
  await fleet.patch(rpcRouters, 'asleep', { spec: { replicas: null, autoscaling } })
  await eventually(async () => expect(await count('asleep')).toBe(2))
  await fleet.routerIs('asleep', 'Programmed', 'Programmed')
  await quiet(running)
  expect(await count('asleep')).toBe(2)
})

test('turning autoscaling off restores the count of the spec and deletes the autoscaler', async () => {
  await fleet.provider('off', 'off-a')
  await fleet.router('off', { autoscaling: { minReplicas: 3, maxReplicas: 10 } })
  await fleet.routerIs('off', 'Programmed', 'Programmed')
  await quiet(running)
  expect(await count('off'), 'it starts with the least').toBe(3)
  await fleet.patch(rpcRouters, 'off', { spec: { autoscaling: null, replicas: 4 } })
  await fleet.routerIs('off', 'Programmed', 'Programmed')
  await eventually(async () => expect(await count('off')).toBe(4))
  await eventually(() =>
    fleet.get(horizontalPodAutoscalers, 'off-router').then(() => false, isNotFound),
  )
  expect(counts.get('off-router')?.every((each) => each >= 3)).toBe(true)
})

test('turning autoscaling off without a count retains the current count', async () => {
  await fleet.provider('left', 'left-a')
  await fleet.router('left', { autoscaling })
  await fleet.routerIs('left', 'Programmed', 'Programmed')
  await scale('left', 5)
  await fleet.patch(rpcRouters, 'left', { spec: { autoscaling: null } })
  await eventually(() =>
    fleet.get(horizontalPodAutoscalers, 'left-router').then(() => false, isNotFound),
  )
  await fleet.routerIs('left', 'Programmed', 'Programmed')
  await fleet.patch(rpcRouters, 'left', { spec: { relay: { strategy: 'latency' } } })
  await fleet.routerIs('left', 'Programmed', 'Programmed')
  await quiet(running)
  expect(await count('left')).toBe(5)
  // A count in the spec changes nothing either.
  await fleet.patch(rpcRouters, 'left', { spec: { replicas: 4 } })
  await eventually(async () => expect(await count('left')).toBe(4))
  await fleet.patch(rpcRouters, 'left', { spec: { replicas: null } })
  await fleet.routerIs('left', 'Programmed', 'Programmed')
  await fleet.patch(rpcRouters, 'left', { spec: { autoscaling } })
  await eventually(() => fleet.get(horizontalPodAutoscalers, 'left-router'))
  await fleet.patch(rpcRouters, 'left', { spec: { autoscaling: null } })
  await fleet.routerIs('left', 'Programmed', 'Programmed')
  await quiet(running)
  expect(await count('left')).toBe(4)
})

test('turning autoscaling on and off repeatedly never changes the count', async () => {
  await fleet.provider('flip', 'flip-a')
  await fleet.router('flip', { replicas: 4 })
  await fleet.routerIs('flip', 'Programmed', 'Programmed')
  for (let round = 0; round < 3; round++) {
    await fleet.patch(rpcRouters, 'flip', { spec: { replicas: null, autoscaling } })
    await fleet.routerIs('flip', 'Programmed', 'Programmed')
    await fleet.patch(rpcRouters, 'flip', { spec: { replicas: 4, autoscaling: null } })
    await fleet.routerIs('flip', 'Programmed', 'Programmed')
  }
  await quiet(running)
  expect(counts.get('flip-router')?.every((each) => each === 4)).toBe(true)
  expect(await count('flip')).toBe(4)
})

test('the router has the status of its autoscaler until the autoscaler is deleted', async () => {
  await fleet.provider('seen', 'seen-a')
  await fleet.router('seen', { autoscaling })
  const status = async () => (await fleet.get(rpcRouters, 'seen')).status?.autoscaling
  // The autoscaler reports missing metrics, since this cluster has no metrics server.
  await eventually(async () => {
    const { conditions = [] } = (await status()) ?? {}
    const active = conditions.find(({ type }) => type === 'ScalingActive')
    expect(active).toMatchObject({ status: 'False', reason: 'FailedGetResourceMetric' })
  })
  await fleet.patch(rpcRouters, 'seen', { spec: { autoscaling: null } })
  await eventually(async () => expect(await status()).toBeUndefined())
})

test('kubectl scale changes the spec of the router', async () => {
  await fleet.provider('hand', 'hand-a')
  await fleet.router('hand', { replicas: 2 })
  await fleet.routerIs('hand', 'Programmed', 'Programmed')
  const kubectl = kubectlFor(place.kubeconfig, place.namespace)
  const { code, stderr } = await kubectl(['scale', 'rpcrouter/hand', '--replicas=3'])
  expect([code, stderr]).toEqual([0, ''])
  await eventually(async () => expect(await count('hand')).toBe(3))
})

test('kubectl cannot scale a router with autoscaling', async () => {
  await fleet.provider('owned', 'owned-a')
  await fleet.router('owned', { autoscaling })
  await fleet.routerIs('owned', 'Programmed', 'Programmed')
  const kubectl = kubectlFor(place.kubeconfig, place.namespace)
  const { code, stderr } = await kubectl(['scale', 'rpcrouter/owned', '--replicas=3'])
  expect(code).not.toBe(0)
  expect(stderr).toContain(
    'replicas must not be set together with autoscaling, which owns the count',
  )
})
