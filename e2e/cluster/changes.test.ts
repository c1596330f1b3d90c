// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../processes/eventually.ts'
import {
  chart,
  imageOf,
  nodePod,
  onSystem,
  provider,
  release,
  router,
  serve,
  usePlace,
} from './cluster.ts'
import { loadImages } from './global-setup.ts'
import { Load, settled, stateOf } from './load.ts'

/*
 * Changes of a fleet under a steady load from inside the cluster, none of which fails a request.
 */

const place = usePlace('changes')
const { run, apply, ask } = place
const routerPods = 'app.kubernetes.io/component=router'
let load: Load

const secret = (key: string) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { alpha: key } },
})
const alpha = provider(place, 'alpha', 'keyed', '${API_KEY}', {
  variables: [{ name: 'API_KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'alpha' } } }],
})
const beta = provider(place, 'beta', 'keyed', 'beta')
const gamma = (key: string) => provider(place, 'gamma', 'keyed', key)
/** Sets the valid keys, and returns the number of uses per key since the last call. */
const accept = async (...keys: string[]): Promise<Record<string, number>> =>
  JSON.parse(await ask('keyed:9001', `/accept/${keys.join()}`))
/** Time for all pods to get a change without a rollout: the kubelet syncs volumes once a minute. */
const takenOverMs = 150_000
const others = ['beta', 'gamma-1', 'gamma-2']

/** Runs an action that changes the config, and waits until all pods have the new config. */
async function changed(action: () => Promise<unknown>): Promise<void> {
  const before = await stateOf(place, 'mainnet')
  await action()
  await settled(place, 'mainnet', before)
}

/** The running pods that are not terminating. */
async function livePods(): Promise<string[]> {
  const { items } = await place.get('pods', '-l', routerPods)
  return items
    .filter((pod: any) => !pod.metadata.deletionTimestamp)
    .map((pod: any) => pod.metadata.name)
}

/** Waits for a thousand requests. */
async function untilAsked(): Promise<void> {
  const { requests } = await load.now()
  await eventually(async () => (await load.now()).requests > requests + 1_000, 20_000)
}

/** Waits until the routers use only the second of a provider's two keys. */
async function untilReplaced(before: string, after: string): Promise<void> {
  const good = ['first', 'second', ...others]
  await eventually(async () => {
    await accept(...good)
    await untilAsked()
    const used = await accept(...good)
    expect(used).toHaveProperty(after)
    expect(used).not.toHaveProperty(before)
  }, takenOverMs)
}

beforeAll(async () => {
  await serve(place, nodePod('keyed', 'keyed-node'))
  // Its second port opens after the port of its readiness probe.
  await eventually(() => accept('first', ...others), 30_000)
  await apply(secret('first'), alpha, beta, router('mainnet', { replicas: 2 }))
  await settled(place, 'mainnet')
  load = await Load.start(place, 'mainnet')
}, 300_000)

test('nothing changes', async () => {
  const { byUpstream } = await load.during('quiet', untilAsked)
  expect(Object.keys(byUpstream).toSorted()).toEqual(['alpha', 'beta'])
})

test('an added provider gets its share', async () => {
  await load.during('provider added', async () => {
    await changed(() => apply(gamma('gamma-1')))
    await eventually(
      async () => expect((await load.now()).byUpstream['gamma']).toBeGreaterThan(0),
      takenOverMs,
    )
  })
})

test('a changed provider gets requests at its new URL', async () => {
  const { byUpstream } = await load.during('provider changed', async () => {
    await changed(() => apply(gamma('gamma-2')))
    await untilReplaced('gamma-1', 'gamma-2')
  })
  expect(byUpstream['gamma']).toBeGreaterThan(0)
})

test('a removed provider gets no more requests', async () => {
  await load.during('provider removed', () => changed(() => run('delete', 'upp', 'gamma')))
  await eventually(async () => {
    const { byUpstream } = await load.during('after it', untilAsked)
    expect(byUpstream).not.toHaveProperty('gamma')
  }, takenOverMs)
})

test('after the rotation of a Secret the old key can be revoked', async () => {
  await accept('first', 'second', ...others)
  await load.during('Secret rotated', async () => {
    await changed(() => apply(secret('second')))
    await untilReplaced('first', 'second')
  })
  const { byUpstream } = await load.during('old key revoked', async () => {
    await accept('second', ...others)
    await untilAsked()
    expect(await accept('second', ...others)).not.toHaveProperty('first')
  })
  expect(byUpstream['alpha']).toBeGreaterThan(50)
})

const patch = (spec: object) =>
  run('patch', 'rpcr', 'mainnet', '--type=merge', '-p', JSON.stringify({ spec }))

test('the config is changed', async () => {
  await load.during('config changed', () =>
    changed(() => patch({ relay: { strategy: 'latency' } })),
  )
  const volume = 'jsonpath={.spec.template.spec.volumes[?(@.name=="config")].configMap.name}'
  const name = await run('get', 'deployment', 'mainnet-router', '-o', volume)
  const config = await run('get', 'configmap', name, '-o', 'jsonpath={.data}')
  expect(config).toContain('strategy: latency')
})

test('kubectl rollout restart', async () => {
  const before = await livePods()
  await load.during('rollout restart', () =>
    changed(() => run('rollout', 'restart', 'deployment/mainnet-router')),
  )
  expect(await livePods()).not.toEqual(expect.arrayContaining([before[0]]))
})

test('a pod is deleted', async () => {
  const [victim = ''] = await livePods()
  await load.during('pod deleted', async () => {
    await run('delete', 'pod', victim)
    await settled(place, 'mainnet')
  })
  expect(await livePods()).not.toContain(victim)
})

test('all pods are evicted, within the disruption budget', async () => {
  const evict = (name: string) =>
    place.kubectl(
      ['create', '--raw', `/api/v1/namespaces/${place.namespace}/pods/${name}/eviction`, '-f', '-'],
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: place.namespace } },
    )
  const pods = await livePods()
  let refused = 0
  await load.during('pods evicted', async () => {
    for (const pod of pods)
      await eventually(async () => {
        const { code, stderr } = await evict(pod)
        if (/disruption budget/.test(stderr)) refused++
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      }, 90_000)
    await settled(place, 'mainnet')
  })
  expect(refused).toBeGreaterThan(0)
  expect(await livePods()).not.toEqual(expect.arrayContaining(pods))
})

test('kubectl scale: from 2 to 5 and back', async () => {
  const scale = async (count: number) => {
    await run('scale', 'rpcrouter/mainnet', `--replicas=${count}`)
    await eventually(async () => expect(await livePods()).toHaveLength(count), 30_000)
    await settled(place, 'mainnet')
  }
  await load.during('2 to 5', () => scale(5))
  await load.during('5 to 2', () => scale(2))
}, 400_000)

test('the chart is upgraded to another image of the router', async () => {
  const next = imageOf('rpc-router', 'e2e-next')
  await promisify(execFile)('docker', ['tag', imageOf('rpc-router'), next])
  await loadImages(next)
  const upgrade = (tag: string) => () =>
    release(
      ...['upgrade', 'rpc-router', chart, '--reset-then-reuse-values', '--wait', '--timeout=3m'],
      ...['--set', `routerImage.tag=${tag}`],
    )
  await load.during('chart upgraded', () => changed(upgrade('e2e-next')))
  expect(await run('get', 'rpcr', 'mainnet', '-o', 'jsonpath={.status.image}')).toBe(next)
  await load.during('and back', () => changed(upgrade('')))
}, 400_000)

test('after the operator is killed during a rollout, the next operator finishes the rollout', async () => {
  await load.during('operator killed', () =>
    changed(async () => {
      await patch({ pod: { annotations: { 'example.com/round': '2' } } })
      await run('wait', '--for=condition=Progressing', 'rpcr/mainnet', '--timeout=30s')
      const operators = ['-l', 'app.kubernetes.io/component=operator']
      await onSystem.run('delete', 'pod', ...operators, '--grace-period=0', '--force')
    }),
  )
  const { items } = await place.get('pods', '-l', routerPods)
  for (const { metadata } of items)
    expect(metadata.annotations).toMatchObject({ 'example.com/round': '2' })
})
