// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Deployment, deployments } from '../../operator/resources/kinds.ts'
import { eventually } from '../processes/eventually.ts'
import { PretendKubelet } from './pretend-kubelet.ts'
import { pods } from './resources.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, signal } = useNamespace()
const kubelet = new PretendKubelet({ client, namespace })
const stop = new AbortController()
let running: Promise<void>

beforeAll(() => {
  running = kubelet.run(stop.signal)
})
afterAll(async () => {
  stop.abort()
  await running
})

const labels = { app: 'web' }
const deployment = (image: string) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
    },
  }) as Deployment

const apply = (image: string) =>
  client.apply(deployments, deployment(image), { fieldManager: 'test' }, signal)
const status = async () =>
  (await client.get(deployments, { namespace, name: 'web' }, signal)).status ?? {}
const countPods = async () =>
  (await client.list(pods, { namespace, labelSelector: 'app=web' }, signal)).items.length

test('pods become ready, fail on request, and are deleted with their owner', async () => {
  await apply('localhost/web:1')
  await eventually(async () => (await status()).availableReplicas === 3)

  // A rollout with failing pods stalls, and the old pods remain.
  kubelet.decide(({ spec }) => (spec?.containers[0]?.image.endsWith(':2') ? 'failing' : 'ready'))
  await apply('localhost/web:2')
  await eventually(async () => (await status()).updatedReplicas === 1)
  expect((await status()).readyReplicas).toBe(3)

  kubelet.decide(() => 'ready')
  await eventually(async () => {
    const { updatedReplicas, readyReplicas } = await status()
    return updatedReplicas === 3 && readyReplicas === 3 && (await countPods()) === 3
  })

  kubelet.decide(() => 'failing')
  await eventually(async () => (await status()).readyReplicas === undefined)

  // The real garbage collector deletes the pods.
  await client.delete(deployments, { namespace, name: 'web' }, signal)
  await eventually(async () => (await countPods()) === 0)
})
