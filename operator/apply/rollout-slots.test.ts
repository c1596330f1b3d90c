// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import {
  configMaps,
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  rpcRouters,
  services,
  upstreamProviders,
} from '../resources/kinds.ts'
import { withoutNewPods } from './rollout-slots.ts'

const names = ['r1', 'r2', 'r3', 'r4', 'r5']

async function fleet(most: number) {
  const harness = new OperatorHarness(new FakeApiServer(), null, null, most)
  harness.provider('a')
  for (const name of names) harness.router(name)
  await harness.pass()
  for (const name of names) harness.rollOut(name)
  await harness.pass()
  return harness
}

const generationOf = (harness: OperatorHarness, name: string) =>
  harness.get(deployments, `${name}-router`).metadata.generation
const started = (harness: OperatorHarness) =>
  names.filter((name) => generationOf(harness, name) === 2)

/** Makes one change that affects all routers, as an upgrade of the operator does. */
const changeAll = (harness: OperatorHarness) => harness.provider('a', 'https://a.example:8443')

test('first pods wait for no slot', async () => {
  await using harness = await fleet(1)
  expect(names.map((name) => generationOf(harness, name))).toEqual([1, 1, 1, 1, 1])
})

test('a limited number of routers replace their pods at a time; the next starts when one is done', async () => {
  await using harness = await fleet(2)
  changeAll(harness)
  await harness.pass(60_000)
  const first = started(harness)
  expect(first).toHaveLength(2)
  const waiting = names.filter((name) => !first.includes(name))
  for (const name of waiting)
    expect(harness.conditions(rpcRouters, name)['Programmed']).toMatch(
      /^False\/RolloutQueued@1: It waits/,
    )
  for (let done = 1; done <= 3; done++) {
    harness.rollOut(started(harness)[done - 1] ?? '')
    await harness.pass(6_000)
    expect(started(harness).length).toBe(2 + done)
  }
  for (const name of names) harness.rollOut(name)
  await harness.pass(6_000)
  for (const name of names) expect(harness.conditions(rpcRouters, name)['Ready']).toMatch(/^True/)
  expect(harness.failures).toEqual([])
})

describe('while a router waits for a slot', () => {
  /** Starts a rollout of one router while the others wait; returns the name of a waiting one. */
  async function queue(change: (harness: OperatorHarness) => void) {
    const harness = await fleet(1)
    change(harness)
    await harness.pass(10_000)
    return { harness, name: names.find((each) => !started(harness).includes(each)) ?? '' }
  }
  const resources = { requests: { cpu: '300m' } }
  const changePods = (harness: OperatorHarness) => {
    for (const name of names) harness.router(name, { pod: { resources } })
  }
  const textsOf = (harness: OperatorHarness, name: string) =>
    harness
      .names(configMaps)
      .filter((each) => each.startsWith(`${name}-router`))
      .map((each) => harness.get(configMaps, each).data?.['router.yml'])
  const templateOf = (harness: OperatorHarness, name: string) =>
    harness.get(deployments, `${name}-router`).spec.template

  test('the count changes, the pods do not, and Ready stays as it was', async () => {
    const { harness, name } = await queue(changeAll)
    await using _ = harness
    const { Ready = '' } = harness.conditions(rpcRouters, name)
    expect(Ready).toMatch(/^True/)
    const before = templateOf(harness, name)
    harness.router(name, { replicas: 7 })
    await harness.pass(6_000)
    expect(harness.get(deployments, `${name}-router`).spec.replicas).toBe(7)
    expect(templateOf(harness, name)).toEqual(before)
    expect(textsOf(harness, name)).toHaveLength(1)
    // No pod is known to serve the new generation.
    expect(harness.conditions(rpcRouters, name)).toMatchObject({
      Programmed: expect.stringMatching(/^False\/RolloutQueued@2/),
      Ready: expect.stringMatching(/^False\/NotProgrammed@2/),
    })
    harness.router(name, { autoscaling: { minReplicas: 2, maxReplicas: 9 } })
    await harness.pass(6_000)
    expect(harness.get(horizontalPodAutoscalers, `${name}-router`).spec.maxReplicas).toBe(9)
    harness.api.requests.length = 0
    await harness.pass(12_000)
    expect(harness.api.requests.filter(({ verb }) => verb === 'patch')).toEqual([])
    expect(harness.failures).toEqual([])
  })

  test('pods that stop serving are not hidden', async () => {
    const { harness, name } = await queue(changeAll)
    await using _ = harness
    harness.count(name, { replicas: 2, updatedReplicas: 2, availableReplicas: 0 })
    await harness.pass(6_000)
    expect(harness.conditions(rpcRouters, name)['Ready']).toMatch(/^False\/NotAvailable/)
    harness.count(name, { replicas: 2, updatedReplicas: 2, availableReplicas: 2 })
    await harness.pass(6_000)
    expect(harness.conditions(rpcRouters, name)['Ready']).toMatch(/^True/)
  })

  test('changes that pods reload reach the config', async () => {
    const { harness, name } = await queue(changePods)
    await using _ = harness
    harness.provider('b')
    await harness.pass(6_000)
    expect(textsOf(harness, name)).toEqual([expect.stringContaining('https://b.example')])
    harness.remove(upstreamProviders, 'b')
    await harness.pass(6_000)
    expect(textsOf(harness, name)).toEqual([expect.not.stringContaining('https://b.example')])
    expect(generationOf(harness, name)).toBe(1)
    expect(harness.failures).toEqual([])
  })

  test('the Service keeps the ports of its pods', async () => {
    const sepolia = { name: 'sep', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' }
    const { harness, name } = await queue((each) => {
      each.provider('s', 'https://s.example', { chainId: 'SEP1' })
      for (const router of names) each.router(router, { endpoints: [sepolia] })
    })
    await using _ = harness
    const ports = () => harness.get(services, `${name}-router`).spec.ports?.map(({ port }) => port)
    expect(ports()).toEqual([3360])
    const [rolling = ''] = started(harness)
    harness.rollOut(rolling)
    for (let done = 0; done < names.length; done++) {
      await harness.pass(6_000)
      for (const each of started(harness)) harness.rollOut(each)
    }
    await harness.pass(6_000)
    expect(ports()).toEqual([3361])
    expect(harness.conditions(rpcRouters, name)['Ready']).toMatch(/^True\/Ready@2/)
  })
})

test('a stalled or deleted router frees its slot', async () => {
  await using harness = await fleet(1)
  changeAll(harness)
  await harness.pass(10_000)
  const [stalled = ''] = started(harness)
  harness.count(stalled, { replicas: 2, updatedReplicas: 1 }, 'ProgressDeadlineExceeded')
  await harness.pass(6_000)
  expect(started(harness)).toHaveLength(2)
  const gone = started(harness).find((name) => name !== stalled) ?? ''
  harness.remove(rpcRouters, gone)
  await harness.pass(6_000)
  expect(started(harness)).toHaveLength(3)
})

test.each([['DeploymentPaused'], ['ReplicaSetCreateError']])(
  'a router whose Deployment reports %s frees its slot',
  async (reason) => {
    await using harness = await fleet(1)
    changeAll(harness)
    await harness.pass(10_000)
    harness.count(started(harness)[0] ?? '', { replicas: 2, updatedReplicas: 1 }, reason)
    await harness.pass(6_000)
    expect(started(harness)).toHaveLength(2)
  },
)

test('a change that replaces no pod waits for no slot', async () => {
  await using harness = await fleet(1)
  changeAll(harness)
  await harness.pass(10_000)
  const [rolling = ''] = started(harness)
  const other = names.find((name) => name !== rolling) ?? ''
  const { spec } = harness.get(rpcRouters, rolling)
  harness.router(rolling, { ...(spec as object), replicas: 5 })
  await harness.pass(6_000)
  expect(harness.get(deployments, `${rolling}-router`).spec.replicas).toBe(5)
  expect(generationOf(harness, other)).toBe(1)
})

test('a stopped rollout stays stopped while the next one waits for a slot', () => {
  const template = { metadata: {} }
  const present: Deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'r' } },
    spec: { selector: {}, template },
  }
  const wanted = { fixedHash: 'b', current: 'a', objects: [present] }
  const pausedOf = (of: Deployment) =>
    (withoutNewPods(wanted, of).objects[0] as Deployment).spec.paused
  expect(pausedOf(present)).toBeUndefined()
  expect(pausedOf({ ...present, spec: { ...present.spec, paused: true } })).toBe(true)
})
