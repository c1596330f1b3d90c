// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../kube/object.ts'
import {
  configMaps,
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/*
 * A provider that breaks is left out. Only where an endpoint of the pods would close by that is the router held back.
 */

const endpoints = [
  { name: 'eth', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
  { name: 'sep', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' },
]

function keys(desk: OperatorHarness, values: Readonly<Record<string, string>>): void {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  const metadata = { namespace: 'ns', name: 'keys' }
  desk.keeper.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as KubeObject)
}

function withKey(key: string, chainId: string) {
  const header = { name: 'x-key', valueFrom: { secretKeyRef: { name: 'keys', key } } }
  const url = `https://${key}.example`
  return { chainId, nodeUrls: [{ url, auth: { headers: [header] } }] }
}

/** Pods run with a and b for ETH1, and with c alone for SEP1; each has its key. */
async function servingDesk(): Promise<OperatorHarness> {
  const desk = new OperatorHarness()
  keys(desk, { a: '1', b: '2', c: '3' })
  desk.provider('a', '', withKey('a', 'ETH1'))
  desk.provider('b', '', withKey('b', 'ETH1'))
  desk.provider('c', '', withKey('c', 'SEP1'))
  desk.router('r', { endpoints })
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

function providersOf(desk: OperatorHarness): string {
  const { spec } = desk.get(deployments, 'r-router')
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  const text = desk.get(configMaps, name ?? '').data?.['router.yml'] ?? ''
  return [...text.matchAll(/^ {2}- name: (\S+)/gm)].map(([, found]) => found).join(' ')
}

const breaks: readonly (readonly [string, (desk: OperatorHarness, provider: string) => void])[] = [
  [
    'its key is gone',
    (desk, provider) => {
      const { [provider]: _, ...left } = { a: '1', b: '2', c: '3' } as Record<string, string>
      keys(desk, left)
    },
  ],
  [
    'its key gets a bad value',
    (desk, provider) => {
      keys(desk, { a: '1', b: '2', c: '3', [provider]: 'line\nbreak' })
    },
  ],
  [
    'it becomes invalid',
    (desk, provider) => {
      desk.provider(provider, 'https://node.example:99999', {
        chainId: provider === 'c' ? 'SEP1' : 'ETH1',
      })
    },
  ],
]

describe.each(breaks)('when %s', (_, breakIt) => {
  test('a provider beside others is left out, and they go on', async () => {
    await using desk = await servingDesk()
    breakIt(desk, 'b')
    await desk.pass()
    expect(providersOf(desk)).toBe('a c')
    const { Accepted, Ready } = desk.conditions(rpcRouters, 'r')
    expect(Accepted).toMatch(/^True\/PartiallyAccepted@1: UpstreamProvider b is left out/)
    expect(Ready).not.toMatch(/NotAccepted|RefsNotResolved/)
    expect(desk.conditions(upstreamProviders, 'b')['Ready']).toMatch(/^False/)
    expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
  })

  test('the only one of an endpoint holds the router back until it is fixed', async () => {
    await using desk = await servingDesk()
    const { template } = desk.get(deployments, 'r-router').spec
    breakIt(desk, 'c')
    desk.router('r', { endpoints, pod: { image: 'other:1' } })
    await desk.pass(60_000)
    expect(desk.get(deployments, 'r-router').spec.template).toEqual(template)
    const conditions = desk.conditions(rpcRouters, 'r')
    expect(conditions['Programmed']).toMatch(/^False\/NotAccepted@2: The last good config/)
    expect(`${conditions['Accepted']} ${conditions['ResolvedRefs']}`).toContain(
      'nothing is changed as long as this would close',
    )
    // What was applied before holds.
    expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    expect(desk.conditions(upstreamProviders, 'c')['Ready']).toMatch(/^False/)
    keys(desk, { a: '1', b: '2', c: '3' })
    desk.provider('c', '', withKey('c', 'SEP1'))
    await desk.pass(60_000)
    expect(providersOf(desk)).toBe('a b c')
    expect(desk.get(deployments, 'r-router').spec.template).not.toEqual(template)
  })
})

test('an endpoint whose only provider is deleted closes', async () => {
  await using desk = await servingDesk()
  desk.remove(upstreamProviders, 'c')
  await desk.pass()
  expect(providersOf(desk)).toBe('a b')
})

test('an operator that starts anew holds the same', async () => {
  const first = await servingDesk()
  keys(first, { a: '1', b: '2' })
  await first.pass()
  await first[Symbol.asyncDispose]()
  await using second = new OperatorHarness(first.keeper)
  await second.pass(60_000)
  expect(providersOf(second)).toBe('a b c')
})

test('a provider that changes while its router is held back is not programmed', async () => {
  await using desk = await servingDesk()
  keys(desk, { a: '1', b: '2' })
  await desk.pass()
  desk.provider('a', 'https://new.example')
  await desk.pass()
  expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^False\/NotProgrammed@2/)
})
