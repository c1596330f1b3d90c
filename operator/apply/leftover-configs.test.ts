// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { ApiError } from '../kube/errors.ts'
import type { ReceivedRequest } from '../kube/testing/fake-api-server.ts'
import { configMaps, networkPolicies, replicaSets, rpcRouters } from '../resources/kinds.ts'

const forbidden = (message: string) => new ApiError('PATCH', 403, { reason: 'Forbidden', message })

const refusing = (plural: string) => (request: ReceivedRequest) =>
  request.verb === 'patch' && request.plural === plural ? forbidden('exceeded quota: other') : null

/** Returns a quota of `most` ConfigMaps. */
const quotaOf = (harness: OperatorHarness, most: number) => (request: ReceivedRequest) => {
  const names = harness.names(configMaps)
  const isNew = request.plural === 'configmaps' && request.verb === 'patch'
  return isNew && !names.includes(request.name) && names.length >= most
    ? forbidden('exceeded quota: configmaps')
    : null
}

const setPort = (harness: OperatorHarness, port: number) =>
  harness.provider('a', `http://a.example:${port}`)

const programmed = (harness: OperatorHarness) => harness.conditions(rpcRouters, 'r')['Programmed']

function egress(harness: OperatorHarness): readonly unknown[] {
  const { spec } = harness.get(networkPolicies, 'r-router')
  return spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
}

async function servingHarness(): Promise<OperatorHarness> {
  const harness = new OperatorHarness()
  setPort(harness, 8545)
  harness.router('r')
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  return harness
}

describe.each(['networkpolicies', 'deployments', 'serviceaccounts'])(
  'while the API server refuses the %s',
  (plural) => {
    test('configs that no pod ran are deleted, so a quota has room for the next', async () => {
      await using harness = await servingHarness()
      const [running = ''] = harness.names(configMaps)
      const others = refusing(plural)
      const quota = quotaOf(harness, 2)
      // Removes the ServiceAccount: if it were unchanged, no request would be sent.
      if (plural === 'serviceaccounts') harness.remove({ ...configMaps, plural }, 'r-router')
      harness.api.refuse = (request) => others(request) ?? quota(request)
      for (const port of [9001, 9002, 9003, 9004, 9005]) {
        setPort(harness, port)
        await harness.pass(5_000)
        expect(programmed(harness)).toContain('exceeded quota: other')
        expect(harness.names(configMaps)).toHaveLength(2)
        expect(harness.names(configMaps)).toContain(running)
      }
      harness.api.refuse = quota
      await harness.pass(121_000)
      expect(programmed(harness)).toMatch(/^True\/Programmed@1/)
      expect(egress(harness)).toEqual([53, 53, 5353, 5353, 8545, 9005])
    })

    test('configs that pods may roll back to stay', async () => {
      await using harness = await servingHarness()
      setPort(harness, 8546)
      await harness.pass()
      harness.rollOut('r')
      await harness.pass()
      const before = harness.names(configMaps)
      expect(before).toHaveLength(2)
      harness.api.refuse = refusing(plural)
      for (const port of [9001, 9002]) {
        setPort(harness, port)
        await harness.pass(5_000)
        expect(harness.names(configMaps)).toEqual(expect.arrayContaining([...before]))
      }
      harness.remove(replicaSets, harness.names(replicaSets)[0] ?? '')
      await harness.pass(5_000)
      expect(harness.names(configMaps)).toHaveLength(2)
    })
  },
)

test('a config that no pod ran opens no port, even if it cannot be deleted', async () => {
  await using harness = await servingHarness()
  harness.api.refuse = refusing('deployments')
  setPort(harness, 9001)
  await harness.pass(5_000)
  harness.api.refuse = ({ verb, plural }) =>
    verb === 'delete' && plural === 'configmaps' ? forbidden('nothing is deleted here') : null
  setPort(harness, 9002)
  await harness.pass(5_000)
  expect(harness.names(configMaps)).toHaveLength(3)
  expect(egress(harness)).toEqual([53, 53, 5353, 5353, 8545, 9002])
  // The pods have the desired config, and the status reports the failure.
  expect(programmed(harness)).toMatch(/^False\/ApplyFailed@1: .*nothing is deleted here/)
  harness.api.refuse = () => null
  await harness.pass(121_000)
  expect(programmed(harness)).toMatch(/^True/)
  expect(harness.names(configMaps)).toHaveLength(2)
})
