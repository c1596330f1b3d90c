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

/* A broken provider is excluded. It blocks the router only if that would close an endpoint. */

const endpoints = [
  { name: 'eth', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
  { name: 'sep', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' },
]

function keys(harness: OperatorHarness, values: Readonly<Record<string, string>>): void {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  const metadata = { namespace: 'ns', name: 'keys' }
  harness.api.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data } as KubeObject)
}

function withKey(key: string, chainId: string) {
  const header = { name: 'x-key', valueFrom: { secretKeyRef: { name: 'keys', key } } }
  const url = `https://${key}.example`
  return { chainId, nodeUrls: [{ url, auth: { headers: [header] } }] }
}

/** Starts pods with a and b for ETH1, and c for SEP1, each with its own key. */
async function servingHarness(): Promise<OperatorHarness> {
  const harness = new OperatorHarness()
  keys(harness, { a: '1', b: '2', c: '3' })
  harness.provider('a', '', withKey('a', 'ETH1'))
  harness.provider('b', '', withKey('b', 'ETH1'))
  harness.provider('c', '', withKey('c', 'SEP1'))
  harness.router('r', { endpoints })
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  return harness
}

function providersOf(harness: OperatorHarness): string {
  const { spec } = harness.get(deployments, 'r-router')
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  const text = harness.get(configMaps, name ?? '').data?.['router.yml'] ?? ''
  return [...text.matchAll(/^ {2}- name: (\S+)/gm)].map(([, found]) => found).join(' ')
}

const breaks: readonly (readonly [string, (harness: OperatorHarness, provider: string) => void])[] =
  [
    [
      'its key is deleted',
      (harness, provider) => {
        const { [provider]: _, ...left } = { a: '1', b: '2', c: '3' } as Record<string, string>
        keys(harness, left)
      },
    ],
    [
      'its key gets a bad value',
      (harness, provider) => {
        keys(harness, { a: '1', b: '2', c: '3', [provider]: 'line\nbreak' })
      },
    ],
    [
      'it becomes invalid',
      (harness, provider) => {
        harness.provider(provider, 'https://node.example:99999', {
          chainId: provider === 'c' ? 'SEP1' : 'ETH1',
        })
      },
    ],
  ]

describe.each(breaks)('when %s', (_, breakIt) => {
  test('one of several providers is excluded, and the others serve', async () => {
    await using harness = await servingHarness()
    breakIt(harness, 'b')
    await harness.pass()
    expect(providersOf(harness)).toBe('a c')
    const { Accepted, Ready } = harness.conditions(rpcRouters, 'r')
    expect(Accepted).toMatch(/^True\/PartiallyAccepted@1: UpstreamProvider b is excluded/)
    expect(Ready).not.toMatch(/NotAccepted|RefsNotResolved/)
    expect(harness.conditions(upstreamProviders, 'b')['Ready']).toMatch(/^False/)
    expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
  })

  test('the only provider of an endpoint blocks the router until it is fixed', async () => {
    await using harness = await servingHarness()
    const { template } = harness.get(deployments, 'r-router').spec
    breakIt(harness, 'c')
    harness.router('r', { endpoints, pod: { image: 'other:1' } })
    await harness.pass(60_000)
    expect(harness.get(deployments, 'r-router').spec.template).toEqual(template)
    const conditions = harness.conditions(rpcRouters, 'r')
    expect(conditions['Programmed']).toMatch(/^False\/NotAccepted@2: The last good config/)
    expect(`${conditions['Accepted']} ${conditions['ResolvedRefs']}`).toContain(
      'no change is applied while it would close',
    )
    // The applied config stays in effect.
    expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    expect(harness.conditions(upstreamProviders, 'c')['Ready']).toMatch(/^False/)
    keys(harness, { a: '1', b: '2', c: '3' })
    harness.provider('c', '', withKey('c', 'SEP1'))
    await harness.pass(60_000)
    expect(providersOf(harness)).toBe('a b c')
    expect(harness.get(deployments, 'r-router').spec.template).not.toEqual(template)
  })
})

test('an endpoint whose only provider is deleted closes', async () => {
  await using harness = await servingHarness()
  harness.remove(upstreamProviders, 'c')
  await harness.pass()
  expect(providersOf(harness)).toBe('a b')
})

test('a new leader blocks the router too', async () => {
  const first = await servingHarness()
  keys(first, { a: '1', b: '2' })
  await first.pass()
  await first[Symbol.asyncDispose]()
  await using second = new OperatorHarness(first.api)
  await second.pass(60_000)
  expect(providersOf(second)).toBe('a b c')
})

test('a provider that changes while its router is blocked is not programmed', async () => {
  await using harness = await servingHarness()
  keys(harness, { a: '1', b: '2' })
  await harness.pass()
  harness.provider('a', 'https://new.example')
  await harness.pass()
  expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^False\/NotProgrammed@2/)
})
