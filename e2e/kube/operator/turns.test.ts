// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import {
  configMaps,
  deployments,
  rpcRouters,
  statefulSets,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { type Pod, pods } from '../resources.ts'
import { hastyClock } from '../in-process-operator.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { writes } from './running-operator.ts'

/** Images whose pods do not start. */
const bad = new Set(['localhost/rpc-router:bad', 'localhost/redis:bad'])
const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image ?? ''
const operated = useOperatedFleet({}, (pod) => (bad.has(imageOf(pod)) ? 'waiting' : 'ready'), {
  maxRollingRouters: 1,
  clock: hastyClock(10),
  observer: { reconciled: ({ key }) => void reconciles.push(key) },
})
/** Keys of the reconciled objects, in order. */
const reconciles: string[] = []
const { fleet } = operated

async function settled(...routers: readonly string[]): Promise<void> {
  for (const each of routers) {
    await fleet.routerIs(each, 'Ready', 'Ready')
    await fleet.routerIs(each, 'Progressing', 'RolloutComplete')
  }
}

/** Makes a router occupy the only rollout slot until it is deleted. */
async function occupySlot(router: string): Promise<void> {
  const pod = { image: 'localhost/rpc-router:bad' }
  await fleet.patch(rpcRouters, router, { spec: { pod } })
  await fleet.routerIs(router, 'Progressing', 'RolloutInProgress')
}

test('a router that waits for a rollout slot applies changes that replace no pod', async () => {
  for (const name of ['busy', 'waits']) {
    await fleet.provider(name, `${name}-a`)
    await fleet.router(name)
  }
  await settled('busy', 'waits')
  await occupySlot('busy')
  const { spec: before } = await fleet.get(deployments, 'waits-router')
  const podSpec = { resources: { requests: { cpu: '300m' } } }
  await fleet.patch(rpcRouters, 'waits', { spec: { pod: podSpec } })
  await fleet.routerIs('waits', 'Programmed', 'RolloutQueued')
  await fleet.patch(rpcRouters, 'waits', { spec: { replicas: 5 } })
  await fleet.provider('waits', 'waits-b')
  await eventually(async () => {
    const { spec } = await fleet.get(deployments, 'waits-router')
    expect(spec).toEqual({ ...before, replicas: 5 })
    const texts = (await fleet.list(configMaps)).map(({ data }) => data?.['router.yml'] ?? '')
    expect(texts.filter((text) => text.includes('https://waits-b.example'))).toHaveLength(1)
  })
  await fleet.delete(upstreamProviders, 'waits-b')
  await eventually(async () => {
    const texts = (await fleet.list(configMaps)).map(({ data }) => data?.['router.yml'] ?? '')
    expect(texts.filter((text) => text.includes('https://waits-b.example'))).toEqual([])
  })
  // The operator requeues it repeatedly, and writes nothing.
  await fleet.routerIs('waits', 'Programmed', 'RolloutQueued')
  const lookedAgain = async () => {
    const before = reconciles.length
    await eventually(() => {
      const again = reconciles.slice(before).filter((key) => key === `${fleet.namespace}/waits`)
      expect(again.length).toBeGreaterThan(3)
    })
  }
  await lookedAgain()
  const requests = operated.running.requests.length
  await lookedAgain()
  expect(writes(operated.running.requests.slice(requests))).toEqual([])
  await fleet.delete(rpcRouters, 'busy')
  await settled('waits')
  const { spec } = await fleet.get(deployments, 'waits-router')
  expect(spec.template.spec?.containers[0]?.resources?.requests).toMatchObject({ cpu: '300m' })
  expect(spec.replicas).toBe(5)
})

test('a Redis whose pod does not start gets a new pod with a corrected image', async () => {
  const redis = (image: string) => ({ sharedState: { mode: 'Managed', managed: { image } } })
  const imageOfRedis = async () =>
    (await fleet.list(pods)).filter(({ metadata }) => metadata.name === 'r-redis-0').map(imageOf)
  await fleet.provider('r', 'r-a')
  await fleet.router('r', redis('localhost/redis:one'))
  await settled('r')
  for (const image of ['localhost/redis:bad', 'localhost/redis:two']) {
    await fleet.patch(rpcRouters, 'r', { spec: redis(image) })
    await eventually(async () => {
      expect(await imageOfRedis()).toEqual([image])
    })
  }
  await eventually(async () => {
    const { status } = await fleet.get(statefulSets, 'r-redis')
    expect(status?.readyReplicas).toBe(1)
  })
})
