// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ObjectKeeper } from '../kube/testing/object-keeper.ts'
import { deployments, rpcRouters } from '../resources/kinds.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

const names = ['r1', 'r2', 'r3', 'r4', 'r5']

async function fleet(most: number) {
  const desk = new OperatorDesk(new ObjectKeeper(), null, null, most)
  desk.provider('a')
  for (const name of names) desk.router(name)
  await desk.pass()
  for (const name of names) desk.rollOut(name)
  await desk.pass()
  return desk
}

const generationOf = (desk: OperatorDesk, name: string) =>
  desk.get(deployments, `${name}-router`).metadata.generation
const begun = (desk: OperatorDesk) => names.filter((name) => generationOf(desk, name) === 2)

/** One change that concerns all of them, as an upgrade of the operator does. */
const changeAll = (desk: OperatorDesk) => desk.provider('a', 'https://a.example:8443')

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
