// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import {
  configMaps,
  deployments,
  horizontalPodAutoscalers,
  rpcRouters,
  services,
  statefulSets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

const names = ['r1', 'r2', 'r3', 'r4', 'r5']

async function fleet(most: number) {
  const desk = new OperatorHarness(new FakeApiServer(), null, null, most)
  desk.provider('a')
  for (const name of names) desk.router(name)
  await desk.pass()
  for (const name of names) desk.rollOut(name)
  await desk.pass()
  return desk
}

const generationOf = (desk: OperatorHarness, name: string) =>
  desk.get(deployments, `${name}-router`).metadata.generation
const begun = (desk: OperatorHarness) => names.filter((name) => generationOf(desk, name) === 2)

/** One change that concerns all of them, as an upgrade of the operator does. */
const changeAll = (desk: OperatorHarness) => desk.provider('a', 'https://a.example:8443')

test('first pods wait for no turn', async () => {
  await using desk = await fleet(1)
  expect(names.map((name) => generationOf(desk, name))).toEqual([1, 1, 1, 1, 1])
})

test('so many routers replace their pods at a time, and the next one when one is done', async () => {
  await using desk = await fleet(2)
  changeAll(desk)
  await desk.pass(60_000)
  const first = begun(desk)
  expect(first).toHaveLength(2)
  const waiting = names.filter((name) => !first.includes(name))
  for (const name of waiting)
    expect(desk.conditions(rpcRouters, name)['Programmed']).toMatch(
      /^False\/RolloutQueued@1: As many/,
    )
  for (let done = 1; done <= 3; done++) {
    desk.rollOut(begun(desk)[done - 1] ?? '')
    await desk.pass(6_000)
    expect(begun(desk).length).toBe(2 + done)
  }
  for (const name of names) desk.rollOut(name)
  await desk.pass(6_000)
  for (const name of names) expect(desk.conditions(rpcRouters, name)['Ready']).toMatch(/^True/)
  expect(desk.failures).toEqual([])
})

describe('of a router that waits', () => {
  /** A desk on which one router rolls and the others wait, and the name of one that does. */
  async function queue(change: (desk: OperatorHarness) => void) {
    const desk = await fleet(1)
    change(desk)
    await desk.pass(10_000)
    return { desk, name: names.find((each) => !begun(desk).includes(each)) ?? '' }
  }
  const resources = { requests: { cpu: '300m' } }
  const changePods = (desk: OperatorHarness) => {
    for (const name of names) desk.router(name, { pod: { resources } })
  }
  const textsOf = (desk: OperatorHarness, name: string) =>
    desk
      .names(configMaps)
      .filter((each) => each.startsWith(`${name}-router`))
      .map((each) => desk.get(configMaps, each).data?.['router.yml'])
  const templateOf = (desk: OperatorHarness, name: string) =>
    desk.get(deployments, `${name}-router`).spec.template

  test('the count changes, the pods do not, and Ready stays as it was', async () => {
    const { desk, name } = await queue(changeAll)
    await using _ = desk
    const { Ready = '' } = desk.conditions(rpcRouters, name)
    expect(Ready).toMatch(/^True/)
    const before = templateOf(desk, name)
    desk.router(name, { replicas: 7 })
    await desk.pass(6_000)
    expect(desk.get(deployments, `${name}-router`).spec.replicas).toBe(7)
    expect(templateOf(desk, name)).toEqual(before)
    expect(textsOf(desk, name)).toHaveLength(1)
    // Its generation is another one, of which it is not known that pods serve it.
    expect(desk.conditions(rpcRouters, name)).toMatchObject({
      Programmed: expect.stringMatching(/^False\/RolloutQueued@2/),
      Ready: expect.stringMatching(/^False\/NotProgrammed@2/),
    })
    desk.router(name, { autoscaling: { minReplicas: 2, maxReplicas: 9 } })
    await desk.pass(6_000)
    expect(desk.get(horizontalPodAutoscalers, `${name}-router`).spec.maxReplicas).toBe(9)
    desk.keeper.requests.length = 0
    await desk.pass(12_000)
    expect(desk.keeper.requests.filter(({ verb }) => verb === 'patch')).toEqual([])
    expect(desk.failures).toEqual([])
  })

  test('pods that stop serving are not hidden', async () => {
    const { desk, name } = await queue(changeAll)
    await using _ = desk
    desk.count(name, { replicas: 2, updatedReplicas: 2, availableReplicas: 0 })
    await desk.pass(6_000)
    expect(desk.conditions(rpcRouters, name)['Ready']).toMatch(/^False\/NotAvailable/)
    desk.count(name, { replicas: 2, updatedReplicas: 2, availableReplicas: 2 })
    await desk.pass(6_000)
    expect(desk.conditions(rpcRouters, name)['Ready']).toMatch(/^True/)
  })

  test('the config changes in what its pods take over', async () => {
    const { desk, name } = await queue(changePods)
    await using _ = desk
    desk.provider('b')
    await desk.pass(6_000)
    expect(textsOf(desk, name)).toEqual([expect.stringContaining('https://b.example')])
    desk.remove(upstreamProviders, 'b')
    await desk.pass(6_000)
    expect(textsOf(desk, name)).toEqual([expect.not.stringContaining('https://b.example')])
    expect(generationOf(desk, name)).toBe(1)
    expect(desk.failures).toEqual([])
  })

  test('the Service keeps the ports that its pods have', async () => {
    const sepolia = { name: 'sep', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' }
    const { desk, name } = await queue((each) => {
      each.provider('s', 'https://s.example', { chainId: 'SEP1' })
      for (const router of names) each.router(router, { endpoints: [sepolia] })
    })
    await using _ = desk
    const ports = () => desk.get(services, `${name}-router`).spec.ports?.map(({ port }) => port)
    expect(ports()).toEqual([3360])
    const [rolling = ''] = begun(desk)
    desk.rollOut(rolling)
    for (let done = 0; done < names.length; done++) {
      await desk.pass(6_000)
      for (const each of begun(desk)) desk.rollOut(each)
    }
    await desk.pass(6_000)
    expect(ports()).toEqual([3361])
    expect(desk.conditions(rpcRouters, name)['Ready']).toMatch(/^True\/Ready@2/)
  })
})

test('one that is stalled, or gone, keeps no other waiting', async () => {
  await using desk = await fleet(1)
  changeAll(desk)
  await desk.pass(10_000)
  const [stalled = ''] = begun(desk)
  desk.count(stalled, { replicas: 2, updatedReplicas: 1 }, 'ProgressDeadlineExceeded')
  await desk.pass(6_000)
  expect(begun(desk)).toHaveLength(2)
  const gone = begun(desk).find((name) => name !== stalled) ?? ''
  desk.remove(rpcRouters, gone)
  await desk.pass(6_000)
  expect(begun(desk)).toHaveLength(3)
})

describe('a Redis that restarts', () => {
  async function fleetWithRedis(routers = names) {
    const desk = new OperatorHarness(new FakeApiServer(), null, null, 1)
    desk.provider('a')
    for (const name of routers) desk.router(name, withRedis('redis:first'))
    await desk.pass()
    for (const name of routers) {
      desk.rollOut(name)
      starts(desk, name, true)
    }
    await desk.pass()
    for (const name of routers) desk.router(name, withRedis('redis:other'))
    await desk.pass(10_000)
    return desk
  }
  const withRedis = (image: string) => ({ sharedState: { mode: 'Managed', managed: { image } } })
  const restarted = (desk: OperatorHarness) =>
    names.filter(
      (name) =>
        desk.keeper.find(statefulSets, { namespace: 'ns', name: `${name}-redis` })?.metadata
          .generation === 2,
    )
  const starts = (desk: OperatorHarness, name: string, isDone: boolean) => {
    const { metadata } = desk.get(statefulSets, `${name}-redis`)
    const { generation } = metadata
    const currentRevision = String(isDone ? generation : (generation ?? 0) - 1)
    const revisions = { updateRevision: String(generation), currentRevision }
    desk.keeper.putStatus(statefulSets, metadata, { observedGeneration: generation, ...revisions })
  }

  test('waits for its turn, too, though the pods of its router stay', async () => {
    await using desk = await fleetWithRedis()
    expect(restarted(desk)).toHaveLength(1)
    const [first = ''] = restarted(desk)
    starts(desk, first, false)
    await desk.pass(12_000)
    expect(restarted(desk)).toEqual([first])
    const other = names.find((name) => name !== first) ?? ''
    expect(desk.conditions(rpcRouters, other)['Programmed']).toMatch(/^False\/RolloutQueued/)
    starts(desk, first, true)
    await desk.pass(6_000)
    expect(restarted(desk)).toHaveLength(2)
    expect(names.map((name) => generationOf(desk, name))).toEqual([1, 1, 1, 1, 1])
    expect(desk.failures).toEqual([])
  })

  test('and does not start keeps no other waiting for more than ten minutes', async () => {
    await using desk = await fleetWithRedis(['r1', 'r2'])
    starts(desk, restarted(desk)[0] ?? '', false)
    await desk.pass(570_000)
    expect(restarted(desk)).toHaveLength(1)
    await desk.pass(40_000)
    expect(restarted(desk)).toHaveLength(2)
  })
})

test.each([['DeploymentPaused'], ['ReplicaSetCreateError']])(
  'one whose Deployment says %s keeps no other waiting',
  async (reason) => {
    await using desk = await fleet(1)
    changeAll(desk)
    await desk.pass(10_000)
    desk.count(begun(desk)[0] ?? '', { replicas: 2, updatedReplicas: 1 }, reason)
    await desk.pass(6_000)
    expect(begun(desk)).toHaveLength(2)
  },
)

test('what replaces no pod waits for nobody', async () => {
  await using desk = await fleet(1)
  changeAll(desk)
  await desk.pass(10_000)
  const [rolling = ''] = begun(desk)
  const other = names.find((name) => name !== rolling) ?? ''
  const { spec } = desk.get(rpcRouters, rolling)
  desk.router(rolling, { ...(spec as object), replicas: 5 })
  await desk.pass(6_000)
  expect(desk.get(deployments, `${rolling}-router`).spec.replicas).toBe(5)
  expect(generationOf(desk, other)).toBe(1)
})
