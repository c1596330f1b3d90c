// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  configMaps,
  type Deployment,
  deployments,
  rpcRouters,
  type Secret,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { keyHeader } from './fleet.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet, writes } from './running-operator.ts'

const operated = useOperatedFleet({ 'pod-security.kubernetes.io/enforce': 'restricted' })
const { place, fleet } = operated
function template(deployment: Deployment) {
  return deployment.spec.template.metadata?.annotations ?? {}
}

async function deployment(router: string): Promise<Deployment> {
  return fleet.get(deployments, `${router}-router`)
}

describe('a router', () => {
  test('becomes Ready together with its provider', async () => {
    await fleet.provider('simple', 'simple-a')
    await fleet.router('simple')
    await fleet.routerIs('simple', 'Ready', 'Ready')
    // The first ready pod sets Ready.
    await fleet.routerIs('simple', 'Progressing', 'RolloutComplete')
    const { status } = await fleet.get(rpcRouters, 'simple')
    expect(status).toMatchObject({
      summary: { replicas: '2/2', providers: '1/1', listeners: 1 },
      image: 'localhost/rpc-router:test',
      listeners: [{ name: 'eth1', port: 3360, providers: 1 }],
    })
    await fleet.providerIs('simple-a', 'Ready', 'Ready')
    const provider = await fleet.get(upstreamProviders, 'simple-a')
    expect(provider.status?.routers).toMatchObject([{ name: 'simple' }])
    expect(provider.status?.summary).toEqual({ routers: '1/1', urls: 1 })
  })

  test('keeps every resourceVersion in another reconcile', async () => {
    await fleet.provider('steady', 'steady-a')
    await fleet.router('steady', { autoscaling: { maxReplicas: 4 } })
    await fleet.routerIs('steady', 'Ready', 'Ready')
    await fleet.routerIs('steady', 'Progressing', 'RolloutComplete')
    await fleet.providerIs('steady-a', 'Ready', 'Ready')
    await quiet(operated.running)
    const before = await fleet.versions()
    const requests = operated.running.requests.length
    for (let round = 0; round < 3; round++) {
      operated.running.operator.routers.queue.add(`${place.namespace}/steady`)
      operated.running.operator.providers.queue.add(`${place.namespace}/steady-a`)
      await quiet(operated.running)
    }
    expect(await fleet.versions()).toEqual(before)
    expect(writes(operated.running.requests.slice(requests))).toEqual([])
    await using second = await operated.run()
    await eventually(() => second.operator.hasSynced)
    await quiet(second)
    expect(writes(second.requests), 'an operator that starts anew').toEqual([])
    expect(await fleet.versions()).toEqual(before)
  })

  test('is deleted with all its children', async () => {
    await fleet.provider('gone', 'gone-a')
    await fleet.router('gone')
    await fleet.routerIs('gone', 'Ready', 'Ready')
    await fleet.delete(rpcRouters, 'gone')
    await eventually(async () => {
      const left = (await fleet.everything()).filter(({ metadata }) =>
        metadata.name.startsWith('gone-router'),
      )
      expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([])
    })
    await fleet.providerIs('gone-a', 'Ready', 'NotSelected')
  })

  test('is repaired after a change of its objects', async () => {
    await fleet.provider('drift', 'drift-a')
    await fleet.router('drift', { replicas: 2 })
    await fleet.routerIs('drift', 'Ready', 'Ready')
    await fleet
      .patch(services, 'drift-router', { spec: { ports: null, selector: { app: 'x' } } })
      .catch(() => {})
    await fleet.patch(deployments, 'drift-router', { spec: { minReadySeconds: 99, replicas: 7 } })
    await eventually(async () => {
      const { spec } = await deployment('drift')
      expect(spec.minReadySeconds ?? 0).toBe(0)
      expect(spec.replicas).toBe(2)
    })
    await fleet.delete(services, 'drift-router')
    await eventually(() => fleet.get(services, 'drift-router'))
  })

  test('is not changed while it is paused', async () => {
    await fleet.provider('paused', 'paused-a')
    await fleet.router('paused')
    await fleet.routerIs('paused', 'Ready', 'Ready')
    const annotations = { 'rpcrouter.dev/paused': 'true' }
    await fleet.patch(rpcRouters, 'paused', { metadata: { annotations }, spec: { replicas: 5 } })
    await fleet.routerIs('paused', 'Programmed', 'Paused')
    expect((await deployment('paused')).spec.replicas).toBe(2)
    await fleet.patch(rpcRouters, 'paused', {
      metadata: { annotations: { 'rpcrouter.dev/paused': null } },
    })
    await fleet.routerIs('paused', 'Programmed', 'Programmed')
    expect((await deployment('paused')).spec.replicas).toBe(5)
  })

  test.each([
    ['taken', 'another owner', undefined],
    [
      'clash',
      'an RpcRouter of another group, of the same name,',
      [
        {
          apiVersion: 'other.dev/v1',
          kind: 'RpcRouter',
          name: 'clash',
          uid: '5f3c1b9e-0c2d-4d0e-9a5b-3e8f6a7b1c2d',
          controller: true,
        },
      ],
    ],
  ])(
    '%s whose name %s occupies changes nothing, and reports it',
    async (name, _, ownerReferences) => {
      const labels = { app: 'theirs' }
      const theirs = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace: place.namespace, name: `${name}-router`, ownerReferences },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'c', image: 'theirs' }] },
          },
        },
      }
      const made = await fleet.create(deployments, theirs)
      await fleet.provider(name, `${name}-a`)
      await fleet.router(name)
      const { message } = await fleet.routerIs(name, 'Programmed', 'NameConflict')
      expect(message).toContain(
        `a Deployment named ${name}-router exists and does not belong to this RpcRouter`,
      )
      const { metadata } = await deployment(name)
      expect(metadata.generation).toBe(made.metadata.generation)
      expect(metadata.managedFields?.map(({ manager }) => manager)).not.toContain(
        'rpc-router-operator',
      )
      expect(metadata.uid).toBe(made.metadata.uid)
      expect(metadata.ownerReferences).toEqual(made.metadata.ownerReferences)
      await fleet.delete(deployments, `${name}-router`)
      await fleet.patch(rpcRouters, name, { spec: { replicas: 1 } })
      await fleet.routerIs(name, 'Programmed', 'Programmed')
    },
  )
})

test('a Redis gets or loses its storage while the router briefly runs without it', async () => {
  const redis = async () => {
    const { metadata, spec } = await fleet.get(statefulSets, 'vol-redis')
    return { uid: metadata.uid, volumes: spec.volumeClaimTemplates?.length ?? 0 }
  }
  const share = (sharedState: object) => fleet.patch(rpcRouters, 'vol', { spec: { sharedState } })
  await fleet.provider('vol', 'vol-a')
  await fleet.router('vol', {
    sharedState: { mode: 'Managed', managed: { storage: { size: '1Gi' } } },
  })
  await fleet.routerIs('vol', 'Ready', 'Ready')
  const before = await redis()
  expect(before.volumes).toBe(1)
  await expect(share({ managed: { storage: null } })).rejects.toThrow(
    'set sharedState.mode to None',
  )
  // Pods that use the old Redis still run.
  await share({ mode: 'None', managed: null })
  await share({ mode: 'Managed', managed: {} })
  await eventually(async () => expect((await redis()).volumes).toBe(0))
  await fleet.routerIs('vol', 'Programmed', 'Programmed')
  await fleet.routerIs('vol', 'Ready', 'Ready')
  expect((await redis()).uid).not.toBe(before.uid)
})

test('an invalid router gets no children and no Redis', async () => {
  await fleet.router('bare', { sharedState: { mode: 'Managed' } })
  const { message } = await fleet.routerIs('bare', 'Programmed', 'NotAccepted')
  expect(message).toBe('Nothing runs yet.')
  await quiet(operated.running)
  const built = (await fleet.everything()).filter(
    ({ kind, metadata }) => kind !== 'RpcRouter' && metadata.name.startsWith('bare'),
  )
  expect(built.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([])
})

describe('providers', () => {
  test('only the invalid one of six is excluded', async () => {
    for (const name of ['five-a', 'five-b', 'five-c', 'five-d', 'five-e'])
      await fleet.provider('five', name)
    await fleet.provider('five', 'five-x', {
      nodeUrls: [{ url: 'https://x.example', addons: ['archiv'] }],
    })
    await fleet.router('five')
    await fleet.routerIs('five', 'Ready', 'Ready')
    const { message } = await fleet.providerIs('five-x', 'Accepted', 'InvalidConfig')
    expect(message).toContain('ETH1 has no add-on "archiv" on jsonrpc. Did you mean "archive"?')
    await fleet.providerIs('five-a', 'Ready', 'Ready')
    expect((await fleet.get(rpcRouters, 'five')).status?.summary?.providers).toBe('5/6')
    await fleet.routerIs('five', 'Accepted', 'PartiallyAccepted')
  })

  test('many new providers at once cause few rollouts', async () => {
    await fleet.provider('burst', 'burst-0')
    await fleet.router('burst')
    await fleet.routerIs('burst', 'Programmed', 'Programmed')
    const first = (await deployment('burst')).metadata.generation ?? 0
    const names = Array.from({ length: 30 }, (_, index) => `burst-${index + 1}`)
    await Promise.all(names.map((name) => fleet.provider('burst', name)))
    await eventually(async () => {
      expect((await fleet.get(rpcRouters, 'burst')).status?.summary?.providers).toBe('31/31')
    })
    expect(((await deployment('burst')).metadata.generation ?? 0) - first).toBeLessThan(6)
  })

  test('after the deletion of the last provider the last good config remains', async () => {
    await fleet.provider('last', 'last-a')
    await fleet.router('last')
    await fleet.routerIs('last', 'Ready', 'Ready')
    const before = template(await deployment('last'))
    await fleet.delete(upstreamProviders, 'last-a')
    await fleet.routerIs('last', 'Accepted', 'NoProviders')
    expect(template(await deployment('last'))).toEqual(before)
  })
})

describe('Secrets', () => {
  test('a missing one is waited for', async () => {
    await fleet.provider('late', 'late-a', keyHeader('late-keys'))
    await fleet.router('late')
    const { message } = await fleet.routerIs('late', 'ResolvedRefs', 'SecretNotFound')
    expect(message).toContain('there is no Secret late-keys')
    await fleet.providerIs('late-a', 'ResolvedRefs', 'SecretNotFound')
    await fleet.secret('late-keys', { key: 'first' })
    await fleet.routerIs('late', 'Ready', 'Ready')
    await fleet.providerIs('late-a', 'Ready', 'Ready')
  })

  test('references to a service account Secret work', async () => {
    const { namespace } = place
    await fleet.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name: 'node-reader' },
    })
    await fleet.provider('token', 'token-a', keyHeader('node-token'))
    await fleet.router('token')
    await fleet.routerIs('token', 'ResolvedRefs', 'SecretNotFound')
    const annotations = { 'kubernetes.io/service-account.name': 'node-reader' }
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { namespace, name: 'node-token', annotations },
      data: { key: Buffer.from('token').toString('base64') },
    }
    await fleet.create(secrets, secret)
    const { status } = await fleet.routerIs('token', 'Ready', 'Ready')
    expect(status).toBe('True')
  })

  test('pods reload a rotated key without a rollout, and an unused key changes nothing', async () => {
    await fleet.secret('turn-keys', { key: 'first', other: 'x' })
    await fleet.provider('turn', 'turn-a', keyHeader('turn-keys'))
    await fleet.router('turn')
    await fleet.routerIs('turn', 'Ready', 'Ready')
    const before = await deployment('turn')
    await fleet.patch(secrets, 'turn-keys', {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      stringData: { other: 'y', more: 'z' },
    })
    await eventually(() => operated.running.operator.routers.queue.isIdle)
    expect(template(await deployment('turn'))).toEqual(template(before))
    await fleet.patch(secrets, 'turn-keys', { stringData: { key: 'second' } })
    await eventually(async () => {
      const after = await deployment('turn')
      const hashOf = ({ metadata }: typeof after) =>
        metadata.annotations?.['rpcrouter.dev/secret-hash']
      expect(hashOf(after)).not.toBe(hashOf(before))
      expect(template(after)).toEqual(template(before))
    })
  })
})

describe('configs', () => {
  test('old configs are retained while a ReplicaSet refers to them', async () => {
    await fleet.provider('kept', 'kept-a')
    await fleet.router('kept', {
      pod: { rollout: { revisionHistoryLimit: 1, minReadySeconds: 0 } },
    })
    await fleet.routerIs('kept', 'Ready', 'Ready')
    for (const epochDuration of ['10m', '20m', '30m']) {
      await fleet.patch(rpcRouters, 'kept', { spec: { upstreams: { epochDuration } } })
      await fleet.routerIs('kept', 'Progressing', 'RolloutComplete')
    }
    await eventually(async () => {
      const names = (await fleet.list(configMaps))
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('kept-router-'))
      expect(names).toHaveLength(2)
    })
  })
})
