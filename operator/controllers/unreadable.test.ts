// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { configMaps, deployments, rpcRouters, upstreamProviders } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/*
 * Stored objects that do not match this operator's schema, because an older or laxer definition
 * accepted them.
 */

const unreadable = { nodeUrls: 'https://a.example' }

function configOf(harness: OperatorHarness): string {
  const { spec } = harness.get(deployments, 'r-router')
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  return harness.get(configMaps, name ?? '').data?.['router.yml'] ?? ''
}

test('a provider that became unreadable is excluded, and both objects report it', async () => {
  await using harness = await OperatorHarness.serving({ providers: ['a', 'b'] })
  harness.provider('a', '', unreadable)
  await harness.pass()
  expect(configOf(harness)).not.toContain('https://a.example')
  expect(harness.conditions(rpcRouters, 'r')['Accepted']).toContain(
    'True/PartiallyAccepted@1: UpstreamProvider a is excluded (InvalidSpec).',
  )
  expect(harness.conditions(upstreamProviders, 'a')).toMatchObject({
    Accepted: expect.stringMatching(/^False\/InvalidSpec@2: spec\.nodeUrls: /),
    Ready: expect.stringMatching(/^False\/NotAccepted@2/),
  })
  expect(harness.status(upstreamProviders, 'a')).toMatchObject({
    routers: [
      {
        name: 'r',
        conditions: ['InvalidSpec', 'NotProgrammed', 'NotObserved'].map((reason) => ({ reason })),
      },
    ],
    summary: { routers: '0/1' },
  })
  expect(harness.events).toContain('InvalidProvider')
  // Changes to other providers still take effect.
  harness.provider('b', 'https://new.example')
  await harness.pass()
  expect(configOf(harness)).toContain('https://new.example')
  harness.provider('a')
  await harness.pass()
  expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
})

test('an unreadable provider that never ran is excluded', async () => {
  await using harness = await OperatorHarness.serving({ providers: ['a', 'b'] })
  const { generation } = harness.get(deployments, 'r-router').metadata
  harness.provider('c', '', unreadable)
  await harness.pass()
  expect(harness.get(deployments, 'r-router').metadata.generation).toBe(generation)
  expect(harness.conditions(rpcRouters, 'r')['Accepted']).toContain(
    'UpstreamProvider c is excluded (InvalidSpec)',
  )
})

test('a router whose only provider became unreadable is blocked', async () => {
  await using harness = await OperatorHarness.serving({ providers: ['a', 'b'] })
  harness.remove(upstreamProviders, 'b')
  await harness.pass()
  harness.provider('a', '', unreadable)
  await harness.pass()
  expect(configOf(harness)).toContain('https://a.example')
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/NotAccepted/)
  harness.remove(upstreamProviders, 'a')
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^False\/NoProviders/)
})
