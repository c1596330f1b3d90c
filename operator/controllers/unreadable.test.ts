// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { configMaps, deployments, rpcRouters, upstreamProviders } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/*
 * Objects that the API server has and that do not fit the types of this operator: stored under an older definition, or
 * under one that says less.
 */

const unreadable = { nodeUrls: 'https://a.example' }

async function servingDesk(): Promise<OperatorHarness> {
  const desk = new OperatorHarness()
  desk.provider('a')
  desk.provider('b')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

function configOf(desk: OperatorHarness): string {
  const { spec } = desk.get(deployments, 'r-router')
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  return desk.get(configMaps, name ?? '').data?.['router.yml'] ?? ''
}

test('a provider that became unreadable is left out, and both objects say so', async () => {
  await using desk = await servingDesk()
  desk.provider('a', '', unreadable)
  await desk.pass()
  expect(configOf(desk)).not.toContain('https://a.example')
  expect(desk.conditions(rpcRouters, 'r')['Accepted']).toContain(
    'True/PartiallyAccepted@1: UpstreamProvider a is left out (InvalidSpec).',
  )
  expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
    Accepted: expect.stringMatching(/^False\/InvalidSpec@2: spec\.nodeUrls: /),
    Ready: expect.stringMatching(/^False\/NotAccepted@2/),
  })
  expect(desk.status(upstreamProviders, 'a')).toMatchObject({
    routers: [
      {
        name: 'r',
        conditions: ['InvalidSpec', 'NotProgrammed', 'NotObserved'].map((reason) => ({ reason })),
      },
    ],
    summary: { routers: '0/1' },
  })
  expect(desk.events).toContain('InvalidProvider')
  // The others change as they are written.
  desk.provider('b', 'https://new.example')
  await desk.pass()
  expect(configOf(desk)).toContain('https://new.example')
  desk.provider('a')
  await desk.pass()
  expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
})

test('an unreadable provider that never ran is left out', async () => {
  await using desk = await servingDesk()
  const { generation } = desk.get(deployments, 'r-router').metadata
  desk.provider('c', '', unreadable)
  await desk.pass()
  expect(desk.get(deployments, 'r-router').metadata.generation).toBe(generation)
  expect(desk.conditions(rpcRouters, 'r')['Accepted']).toContain(
    'UpstreamProvider c is left out (InvalidSpec)',
  )
})

test('a router whose only provider became unreadable is held back', async () => {
  await using desk = await servingDesk()
  desk.remove(upstreamProviders, 'b')
  await desk.pass()
  desk.provider('a', '', unreadable)
  await desk.pass()
  expect(configOf(desk)).toContain('https://a.example')
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/NotAccepted/)
  desk.remove(upstreamProviders, 'a')
  await desk.pass()
  expect(desk.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^False\/NoProviders/)
})

test('providers keep what they say while their router is unreadable, whichever operator looks', async () => {
  const first = await servingDesk()
  const before = first.status(upstreamProviders, 'a')
  first.router('r', { endpoints: 'eth1' })
  await first.pass(120_000)
  expect(first.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^False\/InvalidSpec/)
  first.keeper.put(upstreamProviders, {
    ...first.get(upstreamProviders, 'a'),
    metadata: { namespace: 'ns', name: 'a', annotations: { looked: 'at' } },
  })
  await first.pass(120_000)
  expect(first.status(upstreamProviders, 'a')).toEqual(before)
  await first[Symbol.asyncDispose]()
  await using second = new OperatorHarness(first.keeper)
  await second.pass(120_000)
  expect(second.status(upstreamProviders, 'a')).toEqual(before)
})
