// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ApiError } from '../kube/errors.ts'
import type { ReceivedRequest } from '../kube/testing/fake-api-server.ts'
import { configMaps, networkPolicies, replicaSets, rpcRouters } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

const forbidden = (message: string) => new ApiError('PATCH', 403, { reason: 'Forbidden', message })

const refusing = (plural: string) => (request: ReceivedRequest) =>
  request.verb === 'patch' && request.plural === plural ? forbidden('exceeded quota: other') : null

/** A quota that has room for so many ConfigMaps. */
const quotaOf = (desk: OperatorHarness, most: number) => (request: ReceivedRequest) => {
  const names = desk.names(configMaps)
  const isNew = request.plural === 'configmaps' && request.verb === 'patch'
  return isNew && !names.includes(request.name) && names.length >= most
    ? forbidden('exceeded quota: configmaps')
    : null
}

const wish = (desk: OperatorHarness, port: number) => desk.provider('a', `http://a.example:${port}`)

const programmed = (desk: OperatorHarness) => desk.conditions(rpcRouters, 'r')['Programmed']

function egress(desk: OperatorHarness): readonly unknown[] {
  const { spec } = desk.get(networkPolicies, 'r-router')
  return spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
}

async function servingDesk(): Promise<OperatorHarness> {
  const desk = new OperatorHarness()
  wish(desk, 8545)
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

describe.each(['networkpolicies', 'deployments', 'serviceaccounts'])(
  'while the API server refuses the %s',
  (plural) => {
    test('configs that no pod ever ran go, and a quota has room for the next', async () => {
      await using desk = await servingDesk()
      const [running = ''] = desk.names(configMaps)
      const others = refusing(plural)
      const quota = quotaOf(desk, 2)
      // The ServiceAccount is as it is wanted already: it is not asked for.
      if (plural === 'serviceaccounts') desk.remove({ ...configMaps, plural }, 'r-router')
      desk.keeper.refuse = (request) => others(request) ?? quota(request)
      for (const port of [9001, 9002, 9003, 9004, 9005]) {
        wish(desk, port)
        await desk.pass(5_000)
        expect(programmed(desk)).toContain('exceeded quota: other')
        expect(desk.names(configMaps)).toHaveLength(2)
        expect(desk.names(configMaps)).toContain(running)
      }
      desk.keeper.refuse = quota
      await desk.pass(121_000)
      expect(programmed(desk)).toMatch(/^True\/Programmed@1/)
      expect(egress(desk)).toEqual([53, 53, 5353, 5353, 8545, 9005])
    })

    test('what pods may go back to stays', async () => {
      await using desk = await servingDesk()
      wish(desk, 8546)
      await desk.pass()
      desk.rollOut('r')
      await desk.pass()
      const before = desk.names(configMaps)
      expect(before).toHaveLength(2)
      desk.keeper.refuse = refusing(plural)
      for (const port of [9001, 9002]) {
        wish(desk, port)
        await desk.pass(5_000)
        expect(desk.names(configMaps)).toEqual(expect.arrayContaining([...before]))
      }
      desk.remove(replicaSets, desk.names(replicaSets)[0] ?? '')
      await desk.pass(5_000)
      expect(desk.names(configMaps)).toHaveLength(2)
    })
  },
)

test('a config that no pod ever ran opens no port, even if it cannot be deleted', async () => {
  await using desk = await servingDesk()
  desk.keeper.refuse = refusing('deployments')
  wish(desk, 9001)
  await desk.pass(5_000)
  desk.keeper.refuse = ({ verb, plural }) =>
    verb === 'delete' && plural === 'configmaps' ? forbidden('nothing is deleted here') : null
  wish(desk, 9002)
  await desk.pass(5_000)
  expect(desk.names(configMaps)).toHaveLength(3)
  expect(egress(desk)).toEqual([53, 53, 5353, 5353, 8545, 9002])
  // The pods are as wanted, and the status says what is wrong.
  expect(programmed(desk)).toMatch(/^False\/ApplyFailed@1: .*nothing is deleted here/)
  desk.keeper.refuse = () => null
  await desk.pass(121_000)
  expect(programmed(desk)).toMatch(/^True/)
  expect(desk.names(configMaps)).toHaveLength(2)
})
