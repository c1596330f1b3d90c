// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  configMaps,
  deployments,
  rpcRouters,
  secrets,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import type { Pod } from '../resources.ts'
import { keyHeader } from './fleet.ts'
import { useOperatedFleet } from './operated-fleet.ts'

const gone = new Set<string>()
const operated = useOperatedFleet({}, (pod) =>
  pod.status?.phase === 'Running' || canStart(pod) ? 'ready' : 'waiting',
)
const { fleet } = operated

/** A kubelet starts no container whose environment or volume refers to a missing Secret. */
function canStart({ spec }: Pod): boolean {
  const text = JSON.stringify(spec)
  const refers = (name: string) => new RegExp(`"secret(?:KeyRef)?":\\{"name":"${name}"`).test(text)
  return ![...gone].some(refers)
}

/** A router with providers a and b, and a Secret for each. The Secret of a is deleted. */
async function routerWithLostSecret(name: string, spec: object = {}): Promise<void> {
  await fleet.secret(`${name}-s1`, { key: 'first' })
  await fleet.secret(`${name}-s2`, { key: 'first' })
  await fleet.provider(name, `${name}-a`, keyHeader(`${name}-s1`))
  await fleet.provider(name, `${name}-b`, keyHeader(`${name}-s2`))
  await fleet.router(name, spec)
  await settled(name)
  await lose(`${name}-s1`)
  await fleet.providerIs(`${name}-a`, 'ResolvedRefs', 'SecretNotFound')
}

async function lose(secret: string): Promise<void> {
  gone.add(secret)
  await fleet.delete(secrets, secret)
}

async function settled(router: string): Promise<void> {
  await fleet.routerIs(router, 'Ready', 'Ready')
  await fleet.routerIs(router, 'Progressing', 'RolloutComplete')
}

function deployment(router: string) {
  return fleet.get(deployments, `${router}-router`)
}

/** The providers in the Deployment's config. */
async function providersOf(router: string): Promise<readonly string[]> {
  const { spec } = await deployment(router)
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  const { data = {} } = await fleet.get(configMaps, name ?? '')
  return [...(data['router.yml'] ?? '').matchAll(/^ {2}- name: (\S+)/gm)].map(
    ([, found = '']) => found,
  )
}

test('a provider is excluded while its Secret is missing', async () => {
  await routerWithLostSecret('beside')
  await eventually(async () => {
    expect(await providersOf('beside')).toEqual(['beside-b'])
  })
  await fleet.routerIs('beside', 'Accepted', 'PartiallyAccepted')
  await fleet.routerIs('beside', 'ResolvedRefs', 'ResolvedRefs')
  await settled('beside')
  gone.delete('beside-s1')
  await fleet.secret('beside-s1', { key: 'again' })
  await fleet.providerIs('beside-a', 'Ready', 'Ready')
  expect(await providersOf('beside')).toEqual(['beside-a', 'beside-b'])
  await settled('beside')
})

describe('the only provider of an endpoint', () => {
  const endpoints = [
    { name: 'eth1', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
    { name: 'sepolia', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' },
  ]

  /** A router with a for eth1 and b for sepolia, and a Secret for each. */
  async function routerOfTwo(name: string): Promise<void> {
    await fleet.secret(`${name}-s1`, { key: 'first' })
    await fleet.secret(`${name}-s2`, { key: 'first' })
    await fleet.provider(name, `${name}-a`, keyHeader(`${name}-s1`))
    await fleet.provider(name, `${name}-b`, { ...keyHeader(`${name}-s2`), chainId: 'SEP1' })
    await fleet.router(name, { endpoints })
    await settled(name)
  }

  test('blocks its router while its Secret is missing, and its deletion closes the endpoint', async () => {
    await routerOfTwo('lost')
    const { spec } = await deployment('lost')
    await lose('lost-s1')
    const { message } = await fleet.routerIs('lost', 'ResolvedRefs', 'SecretNotFound')
    expect(message).toContain('no change is applied while it would close eth1')
    await fleet.patch(rpcRouters, 'lost', { spec: { pod: { image: 'localhost/other:1' } } })
    await fleet.routerIs('lost', 'Programmed', 'NotAccepted')
    expect((await deployment('lost')).spec.template).toEqual(spec.template)
    await fleet.delete(upstreamProviders, 'lost-a')
    await eventually(async () => {
      expect(await providersOf('lost')).toEqual(['lost-b'])
    })
    await fleet.routerIs('lost', 'Programmed', 'Programmed')
  })

  test('blocks its router while its Secret has a bad value', async () => {
    await routerOfTwo('bad')
    await fleet.patch(secrets, 'bad-s1', { stringData: { key: 'first\nsecond' } })
    await fleet.routerIs('bad', 'Accepted', 'NoProviders')
    await fleet.patch(rpcRouters, 'bad', { spec: { pod: { image: 'localhost/other:1' } } })
    await fleet.routerIs('bad', 'Programmed', 'NotAccepted')
    const { message } = await fleet.providerIs('bad-a', 'Accepted', 'InvalidConfig')
    expect(message).toContain('x-api-key: the value has a line break in it')
    expect((await deployment('bad')).metadata.generation).toBe(1)
    await fleet.patch(secrets, 'bad-s1', { stringData: { key: 'second' } })
    await settled('bad')
    await fleet.providerIs('bad-a', 'Ready', 'Ready')
  })
})
