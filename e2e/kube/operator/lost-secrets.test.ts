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
import { childLabel } from '../../../operator/resources/labels.ts'
import { eventually } from '../eventually.ts'
import { type Pod, pods } from '../resources.ts'
import { keyHeader } from './fleet.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet } from './running-operator.ts'

const gone = new Set<string>()
const operated = useOperatedFleet({}, (pod) =>
  pod.status?.phase === 'Running' || canStart(pod) ? 'ready' : 'waiting',
)
const { place, fleet } = operated

/** A kubelet starts no container whose environment refers to a Secret that is not there. */
function canStart({ spec }: Pod): boolean {
  const text = JSON.stringify(spec)
  return ![...gone].some((name) => text.includes(`"secretKeyRef":{"name":"${name}"`))
}

/** A router with the providers a and b, each with a Secret of its own, and the Secret of a gone. */
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
  await fleet.routerIs(router, 'Ready', 'Ready', 30_000)
  await fleet.routerIs(router, 'Progressing', 'RolloutComplete', 30_000)
}

function deployment(router: string) {
  return fleet.get(deployments, `${router}-router`)
}

/** The providers in the config that the Deployment has. */
async function providersOf(router: string): Promise<readonly string[]> {
  const { spec } = await deployment(router)
  const name = spec.template.spec?.volumes?.find(({ configMap }) => configMap)?.configMap?.name
  const { data = {} } = await fleet.get(configMaps, name ?? '')
  return [...(data['router.yml'] ?? '').matchAll(/^ {2}- name: (\S+)/gm)].map(
    ([, found = '']) => found,
  )
}

test('pods go on with the key of a Secret that is gone, as long as nothing else changes', async () => {
  await routerWithLostSecret('still')
  await quiet(operated.running)
  expect(await providersOf('still')).toEqual(['still-a', 'still-b'])
  expect((await deployment('still')).metadata.generation).toBe(1)
  await fleet.routerIs('still', 'Accepted', 'PartiallyAccepted')
  await fleet.routerIs('still', 'ResolvedRefs', 'ResolvedRefs')
})

test('nor when the Deployment loses the label by which it is watched', async () => {
  await routerWithLostSecret('bare')
  const labels = { 'app.kubernetes.io/managed-by': null }
  await fleet.patch(deployments, 'bare-router', { metadata: { labels } })
  await eventually(async () => {
    expect((await deployment('bare')).metadata.labels).toMatchObject(childLabel)
  })
  await quiet(operated.running)
  expect(await providersOf('bare')).toEqual(['bare-a', 'bare-b'])
  expect((await deployment('bare')).metadata.generation).toBe(1)
  await fleet.routerIs('bare', 'Ready', 'Ready')
})

const changes: readonly (readonly [string, (name: string) => Promise<unknown>, string[]])[] = [
  ['a new provider', (name) => fleet.provider(name, `${name}-c`), ['b', 'c']],
  [
    'a rotated Secret of another provider',
    (name) => fleet.patch(secrets, `${name}-s2`, { stringData: { key: 'second' } }),
    ['b'],
  ],
  ['a larger count', (name) => fleet.patch(rpcRouters, name, { spec: { replicas: 3 } }), ['b']],
  [
    'another image',
    (name) => fleet.patch(rpcRouters, name, { spec: { pod: { image: 'localhost/other:1' } } }),
    ['b'],
  ],
  [
    'a pod that has to start again',
    async (name) => {
      const found = await fleet.list(pods)
      const pod = found.find(({ metadata }) => metadata.name.startsWith(`${name}-router-`))
      await place.client.delete(pods, pod?.metadata ?? { name: '' }, {}, place.signal)
    },
    ['b'],
  ],
]

test.each(changes.map((change, index) => [index, ...change] as const))(
  '%i: %s is not held up by it: the new pods do without the provider',
  async (index, _what, change, left) => {
    const name = `moves-${index}`
    await routerWithLostSecret(name)
    await change(name)
    await eventually(async () => {
      expect(await providersOf(name)).toEqual(left.map((each) => `${name}-${each}`))
    })
    await settled(name)
    gone.delete(`${name}-s1`)
    await fleet.secret(`${name}-s1`, { key: 'again' })
    await fleet.providerIs(`${name}-a`, 'Ready', 'Ready')
    expect(await providersOf(name)).toContain(`${name}-a`)
    await settled(name)
  },
)

test('a drained provider leaves the config', async () => {
  await routerWithLostSecret('drain')
  await fleet.provider('drain', 'drain-c')
  await eventually(async () => {
    expect(await providersOf('drain')).toEqual(['drain-b', 'drain-c'])
  })
  await fleet.patch(upstreamProviders, 'drain-b', { metadata: { labels: { pool: 'other' } } })
  await eventually(async () => {
    expect(await providersOf('drain')).toEqual(['drain-c'])
  })
})

describe('a provider that alone serves one of two endpoints', () => {
  const endpoints = [
    { name: 'eth1', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' },
    { name: 'sepolia', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' },
  ]

  /** A router whose provider for eth1 has lost its key; that for sepolia has one too. */
  async function routerWithLostEndpoint(name: string): Promise<void> {
    await fleet.secret(`${name}-s1`, { key: 'first' })
    await fleet.secret(`${name}-s2`, { key: 'first' })
    await fleet.provider(name, `${name}-a`, keyHeader(`${name}-s1`))
    await fleet.provider(name, `${name}-b`, { ...keyHeader(`${name}-s2`), chainId: 'SEP1' })
    await fleet.router(name, { endpoints, replicas: 2 })
    await settled(name)
    await lose(`${name}-s1`)
    const { message } = await fleet.routerIs(name, 'ResolvedRefs', 'SecretNotFound')
    expect(message).toContain('nothing else serves eth1, which closes as soon as')
  }

  async function killPods(router: string, count: number): Promise<void> {
    const found = await fleet.list(pods)
    const own = found.filter(({ metadata }) => metadata.name.startsWith(`${router}-router-`))
    for (const { metadata } of own.slice(0, count))
      await place.client.delete(pods, metadata, {}, place.signal)
  }

  async function serves(name: string, providers: readonly string[]): Promise<void> {
    await eventually(async () => {
      expect(await providersOf(name)).toEqual(providers.map((each) => `${name}-${each}`))
    }, 30_000)
  }

  test('loses it when no pod is left, and the other endpoint is served by new ones', async () => {
    await routerWithLostEndpoint('fallen')
    await killPods('fallen', 1)
    // What the status tells of, the operator has judged.
    await eventually(async () => {
      const { status } = await fleet.get(rpcRouters, 'fallen')
      expect(status).toMatchObject({ replicas: 2, availableReplicas: 1 })
    })
    expect(await providersOf('fallen')).toEqual(['fallen-a', 'fallen-b'])
    await killPods('fallen', 2)
    await serves('fallen', ['b'])
    await fleet.routerIs('fallen', 'Available', 'MinimumReplicasAvailable', 30_000)
    await fleet.routerIs('fallen', 'Progressing', 'RolloutComplete', 30_000)
    await fleet.providerIs('fallen-b', 'Ready', 'Ready')
    gone.delete('fallen-s1')
    await fleet.secret('fallen-s1', { key: 'again' })
    await serves('fallen', ['a', 'b'])
    await settled('fallen')
  })

  test('blocks no key of the other', async () => {
    await routerWithLostEndpoint('sole')
    const { spec } = await deployment('sole')
    await fleet.patch(secrets, 'sole-s2', { stringData: { key: 'second' } })
    await serves('sole', ['b'])
    expect((await deployment('sole')).spec.template.metadata?.annotations).not.toEqual(
      spec.template.metadata?.annotations,
    )
    await fleet.routerIs('sole', 'Programmed', 'Programmed')
    await fleet.routerIs('sole', 'Progressing', 'RolloutComplete', 30_000)
    await fleet.delete(upstreamProviders, 'sole-a')
    await fleet.routerIs('sole', 'ResolvedRefs', 'ResolvedRefs')
  })
})

describe('a Secret that got a value which the router would refuse', () => {
  async function spoil(secret: string): Promise<void> {
    gone.add(secret)
    await fleet.patch(secrets, secret, { stringData: { key: 'first\nsecond' } })
  }

  async function mend(secret: string, key: string): Promise<void> {
    gone.delete(secret)
    await fleet.patch(secrets, secret, { stringData: { key } })
  }

  test('takes nothing from pods that run; new ones do without its provider', async () => {
    await fleet.secret('bad-s1', { key: 'first' })
    await fleet.provider('bad', 'bad-a', keyHeader('bad-s1'))
    await fleet.provider('bad', 'bad-b')
    await fleet.router('bad')
    await settled('bad')
    await spoil('bad-s1')
    await fleet.providerIs('bad-a', 'Accepted', 'InvalidConfig')
    const { message } = await fleet.routerIs('bad', 'Accepted', 'PartiallyAccepted')
    expect(message).toContain('bad-a is kept by the pods that run, as long as none has to start')
    await quiet(operated.running)
    expect((await deployment('bad')).metadata.generation).toBe(1)
    await mend('bad-s1', 'first')
    await fleet.providerIs('bad-a', 'Ready', 'Ready')
    expect((await deployment('bad')).metadata.generation).toBe(1)
    await spoil('bad-s1')
    await fleet.providerIs('bad-a', 'Accepted', 'InvalidConfig')
    await fleet.provider('bad', 'bad-c')
    await eventually(async () => {
      expect(await providersOf('bad')).toEqual(['bad-b', 'bad-c'])
    })
    await settled('bad')
    await mend('bad-s1', 'second')
    await fleet.providerIs('bad-a', 'Ready', 'Ready')
    expect(await providersOf('bad')).toEqual(['bad-a', 'bad-b', 'bad-c'])
    await settled('bad')
  })

  test('closes not the only endpoint, and both objects say so', async () => {
    await fleet.secret('lone-s1', { key: 'first' })
    await fleet.provider('lone', 'lone-a', keyHeader('lone-s1'))
    await fleet.router('lone')
    await settled('lone')
    await spoil('lone-s1')
    await fleet.routerIs('lone', 'ResolvedRefs', 'SecretValueRefused')
    await fleet.patch(rpcRouters, 'lone', { spec: { pod: { image: 'localhost/other:1' } } })
    await fleet.routerIs('lone', 'Programmed', 'NotAccepted')
    const { message } = await fleet.providerIs('lone-a', 'Accepted', 'InvalidConfig')
    expect(message).toContain('x-api-key: the value has a line break in it')
    expect((await deployment('lone')).metadata.generation).toBe(1)
    await mend('lone-s1', 'second')
    await settled('lone')
    await fleet.providerIs('lone-a', 'Ready', 'Ready')
  })
})
