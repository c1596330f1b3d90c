// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { KubeObject } from '../kube/object.ts'
import {
  configMaps,
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { OperatorDesk } from './testing/operator-desk.ts'

/*
 * A router with an endpoint for each of two chains, one provider each, and the key of the one is gone or bad: what that
 * costs is the endpoint of its own chain, and that as late as can be.
 */

const endpoints = [
  { name: 'eth', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
  { name: 'sep', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' },
]

function keys(desk: OperatorDesk, texts: Readonly<Record<string, string>>): void {
  const entries = Object.entries(texts).map(([key, text]) => [key, btoa(text)] as const)
  desk.keeper.put(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'ns', name: 'keys' },
    data: Object.fromEntries(entries),
  } as KubeObject)
}

function withKey(name: string, spec: object = {}): object {
  const header = { name: 'x-key', valueFrom: { secretKeyRef: { name: 'keys', key: name } } }
  return { nodeUrls: [{ url: `https://${name}.example`, auth: { headers: [header] } }], ...spec }
}

const whole = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 }

function available(desk: OperatorDesk, pods: number): void {
  desk.count('r', { ...whole, readyReplicas: pods, availableReplicas: pods })
}

async function servingDesk(spec: object = {}): Promise<OperatorDesk> {
  const desk = new OperatorDesk()
  keys(desk, { a: 'a-key', b: 'b-key' })
  desk.provider('a', '', withKey('a'))
  desk.provider('b', '', withKey('b', { chainId: 'SEP1' }))
  desk.router('r', { endpoints, replicas: 3, ...spec })
  await desk.pass()
  desk.rollOut('r', 3)
  await desk.pass()
  return desk
}

const deploymentOf = (desk: OperatorDesk) => desk.get(deployments, 'r-router')

/** The names of the providers in the config that the Deployment has. */
function providersOf(desk: OperatorDesk): string {
  const { spec } = deploymentOf(desk)
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  const text = desk.get(configMaps, name ?? '').data?.['router.yml'] ?? ''
  return [...text.matchAll(/^ {2}- name: (\S+)/gm)].map(([, found]) => found).join(' ')
}

/** Names of the keys that pods cannot start without. */
function neededBy(desk: OperatorDesk): readonly string[] {
  const { env = [] } = deploymentOf(desk).spec.template.spec?.containers[0] ?? {}
  return env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? '')
}

const troubles: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['is gone', { a: 'a-key' }],
  ['has a bad value', { a: 'a-key', b: 'b\nkey' }],
]

for (const [trouble, left] of troubles) {
  test(`a key that ${trouble} closes nothing while as many pods run as have to`, async () => {
    await using desk = await servingDesk()
    const { template } = deploymentOf(desk).spec
    keys(desk, left)
    await desk.pass(60_000)
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      ResolvedRefs: expect.stringMatching(
        /nothing else serves sep, which closes as soon as pods have to be replaced\.$/,
      ),
      Programmed: expect.stringMatching(/^True/),
    })
    // One of three may be away, as while a node is drained.
    available(desk, 2)
    await desk.pass(60_000)
    expect(deploymentOf(desk).spec.template).toEqual(template)
    expect(providersOf(desk)).toBe('a b')
  })

  test.each(['25%', '34%'])(
    `a key that ${trouble} closes nothing while as many pods are away as a budget of %s allows`,
    async (maxUnavailable) => {
      await using desk = await servingDesk({ pod: { maxUnavailable } })
      keys(desk, left)
      await desk.pass()
      available(desk, 2)
      await desk.pass()
      expect(providersOf(desk)).toBe('a b')
    },
  )

  test.each([1, 0])(
    `a key that ${trouble} takes no other endpoint down: %i of 3 pods are left`,
    async (pods) => {
      await using desk = await servingDesk()
      keys(desk, left)
      await desk.pass()
      available(desk, pods)
      await desk.pass()
      expect(providersOf(desk)).toBe('a')
      expect(neededBy(desk)).toEqual(['a'])
      const listeners = desk.status(rpcRouters, 'r')['listeners'] as readonly object[]
      expect(listeners.filter((each) => 'url' in each)).toMatchObject([{ name: 'eth' }])
      expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
      expect(desk.conditions(upstreamProviders, 'b')['Ready']).toMatch(/^False/)
      expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
      // It opens again with its key.
      desk.rollOut('r', 3)
      keys(desk, { a: 'a-key', b: 'better' })
      await desk.pass()
      expect(providersOf(desk)).toBe('a b')
      expect(desk.conditions(rpcRouters, 'r')['ResolvedRefs']).toMatch(/^True/)
    },
  )

  const changes: readonly (readonly [string, (desk: OperatorDesk) => void])[] = [
    ['the key of another provider', (desk) => keys(desk, { ...left, a: 'new-key' })],
    ['another provider', (desk) => desk.provider('a', 'https://new.example')],
    [
      'the image',
      (desk) => desk.router('r', { endpoints, replicas: 3, pod: { image: 'other:1' } }),
    ],
  ]
  test.each(changes)(`a key that ${trouble} blocks no change of %s`, async (_, change) => {
    await using desk = await servingDesk()
    keys(desk, left)
    await desk.pass()
    const { template } = deploymentOf(desk).spec
    change(desk)
    await desk.pass()
    expect(deploymentOf(desk).spec.template).not.toEqual(template)
    expect(providersOf(desk)).toBe('a')
    expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  })

  const counts: readonly (readonly [string, object, object, number | undefined])[] = [
    ['fewer pods', {}, { replicas: 2 }, 2],
    ['more pods', {}, { replicas: 4 }, 4],
    ['an autoscaler', {}, { replicas: undefined, autoscaling: { maxReplicas: 5 } }, undefined],
  ]
  test.each(counts)(
    `a key that ${trouble} closes nothing for %s`,
    async (_, before, spec, replicas) => {
      await using desk = await servingDesk(before)
      const { template } = deploymentOf(desk).spec
      keys(desk, left)
      await desk.pass()
      desk.router('r', { endpoints, ...spec })
      await desk.pass(60_000)
      expect(deploymentOf(desk).spec.replicas).toBe(replicas)
      expect(deploymentOf(desk).spec.template).toEqual(template)
    },
  )
}

test('a count that too few pods can be there for closes what new ones could not serve', async () => {
  await using desk = await servingDesk()
  keys(desk, { a: 'a-key' })
  await desk.pass()
  desk.router('r', { endpoints, replicas: 6 })
  await desk.pass()
  expect(providersOf(desk)).toBe('a b')
  desk.count('r', { ...whole, replicas: 6, updatedReplicas: 6 })
  await desk.pass()
  expect(providersOf(desk)).toBe('a')
})

test('where nothing would be left to serve nothing is changed, and it is said whether pods serve', async () => {
  await using desk = await servingDesk()
  const { template } = deploymentOf(desk).spec
  keys(desk, { c: 'another' })
  desk.router('r', { endpoints, replicas: 3, pod: { image: 'other:1' } })
  await desk.pass()
  const conditions = () => desk.conditions(rpcRouters, 'r')
  expect(conditions()).toMatchObject({
    ResolvedRefs: expect.stringMatching(
      /^False\/SecretKeyNotFound@2: UpstreamProvider a: .*; no pod is replaced before that is mended, since nothing else serves eth\. UpstreamProvider b: .* serves sep\.$/,
    ),
    Programmed: 'False/NotAccepted@2: The last good config keeps serving.',
  })
  available(desk, 0)
  await desk.pass()
  expect(conditions()['Programmed']).toBe(
    'False/NotAccepted@2: The last good config is kept, and no pod is available.',
  )
  expect(deploymentOf(desk).spec.template).toEqual(template)
})
