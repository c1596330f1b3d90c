// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ApiError } from '../kube/errors.ts'
import { deployments, rpcRouters } from '../resources/kinds.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

test('a Deployment that cannot be looked for is told of, and nothing is applied over it', async () => {
  await using desk = new OperatorDesk()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.keeper.refuse = ({ verb, plural }) =>
    verb === 'get' && plural === 'deployments'
      ? new ApiError('GET deployments r-router', 500, { message: 'etcdserver: no leader' })
      : null
  // As when the label is gone by which the watch selects.
  desk.remove(deployments, 'r-router')
  desk.router('r', { replicas: 3 })
  await desk.pass(500)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@1/)
  const { length } = desk.keeper.asked
  await desk.pass(5_000)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(
    /^False\/ApplyFailed@2: .*GET deployments r-router.*no leader/,
  )
  expect(desk.events).toEqual(expect.arrayContaining(['ApplyFailed']))
  const writes = desk.keeper.asked.slice(length).filter(({ verb }) => verb !== 'get')
  expect(new Set(writes.map(({ plural }) => plural))).toEqual(new Set(['rpcrouters', 'events']))
  desk.keeper.refuse = () => null
  await desk.pass(121_000)
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@2/)
  expect(desk.get(deployments, 'r-router').spec.replicas).toBe(3)
})
