// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { events } from '../../../operator/kube/event-recorder.ts'
import type { Resource } from '../../../operator/kube/object.ts'
import {
  deployments,
  networkPolicies,
  rpcRouters,
  services,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { useOperatedFleet } from './operated-fleet.ts'
import { quiet, writes } from './running-operator.ts'

const operated = useOperatedFleet()
const { place, fleet, kubelet } = operated
/** Counts of a router's events by reason. */
async function eventCounts(router: string): Promise<Readonly<Record<string, number>>> {
  const all = (await fleet.list(events)).filter(({ regarding }) => regarding?.name === router)
  return Object.fromEntries(
    all.map(({ reason, series }) => [reason ?? '', series?.count ?? 1] as const),
  )
}

test('while new pods are not ready, old pods serve on their ports, and Ready reports it', async () => {
  await fleet.provider('old', 'old-a', { nodeUrls: [{ url: 'http://old.example:8545' }] })
  await fleet.router('old')
  await fleet.routerIs('old', 'Ready', 'Ready')
  await fleet.routerIs('old', 'Progressing', 'RolloutComplete')
  const template = (await fleet.get(deployments, 'old-router')).spec.template.metadata
  const hash = template?.annotations?.['rpcrouter.dev/fixed-hash']
  kubelet.decide(({ metadata }) =>
    metadata.name.startsWith('old-') && metadata.annotations?.['rpcrouter.dev/fixed-hash'] !== hash
      ? 'failing'
      : 'ready',
  )
  await fleet.patch(upstreamProviders, 'old-a', {
    spec: { nodeUrls: [{ url: 'http://new.example:9545' }] },
  })
  await eventually(async () => {
    const { spec } = await fleet.get(networkPolicies, 'old-router')
    const ports = spec.egress.flatMap((rule) => rule.ports ?? []).map(({ port }) => port)
    expect(ports).toEqual([53, 53, 5353, 5353, 8545, 9545])
  })
  await fleet.routerIs('old', 'Ready', 'NotRolledOut')
  await fleet.routerIs('old', 'Available', 'MinimumReplicasAvailable')
  kubelet.decide(() => 'ready')
  await fleet.routerIs('old', 'Ready', 'Ready')
})

test('neither a pod that fails and recovers nor another count is a rollout', async () => {
  await fleet.provider('flap', 'flap-a')
  await fleet.router('flap')
  await fleet.routerIs('flap', 'Progressing', 'RolloutComplete')
  await quiet(operated.running)
  const before = await eventCounts('flap')
  kubelet.decide(({ metadata }) => (metadata.name.startsWith('flap-') ? 'failing' : 'ready'))
  await fleet.routerIs('flap', 'Available', 'MinimumReplicasUnavailable')
  await fleet.routerIs('flap', 'Progressing', 'RolloutComplete')
  kubelet.decide(() => 'ready')
  await fleet.routerIs('flap', 'Ready', 'Ready')
  await fleet.patch(rpcRouters, 'flap', { spec: { replicas: 4 } })
  await eventually(async () => {
    const { status } = await fleet.get(rpcRouters, 'flap')
    expect(status?.availableReplicas).toBe(4)
  })
  await quiet(operated.running)
  expect(await eventCounts('flap')).toEqual(before)
})

const webhooks: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
}

test('the status of existing and new routers shows a failing webhook', async () => {
  await fleet.provider('hook', 'hook-a')
  await fleet.router('hook')
  await fleet.routerIs('hook', 'Ready', 'Ready')
  const name = `down-${place.namespace}`
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'] }
  const webhook = {
    name: 'down.example.com',
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 1,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } },
    objectSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'rpc-router' } },
    clientConfig: { url: 'https://127.0.0.1:1/x' },
    rules: [{ ...rule, resources: ['deployments'] }],
  }
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const down = { apiVersion, kind: webhooks.kind, metadata: { name }, webhooks: [webhook] }
  await fleet.create(webhooks, down)
  try {
    await eventually(async () => {
      const labels = { probe: String(performance.now()) }
      await expect(
        fleet.patch(deployments, 'hook-router', { metadata: { labels } }),
      ).rejects.toThrow('failed calling webhook')
    })
    await fleet.provider('fresh', 'fresh-a')
    await fleet.router('fresh')
    await fleet.patch(rpcRouters, 'hook', { spec: { logging: { level: 'debug' } } })
    for (const router of ['hook', 'fresh']) {
      const { message } = await fleet.routerIs(router, 'Programmed', 'ApplyFailed')
      expect(message).toContain('failed calling webhook "down.example.com"')
    }
    await fleet.providerIs('fresh-a', 'Ready', 'NotProgrammed')
  } finally {
    await place.client.delete(webhooks, { name }, place.signal)
  }
})

test('the status shows an unknown field, which the API server reports as a failure', async () => {
  await fleet.provider('odd', 'odd-a')
  const affinity = { nodeAffinity: { noSuchField: true } }
  await fleet.router('odd', { pod: { affinity, rollout: { minReadySeconds: 0 } } })
  const { message } = await fleet.routerIs('odd', 'Programmed', 'ApplyFailed')
  expect(message).toContain('noSuchField')
  await fleet.delete(rpcRouters, 'odd')
})

test('the status names a Service that is stuck in deletion', async () => {
  await fleet.provider('stuck', 'stuck-a')
  await fleet.router('stuck')
  await fleet.routerIs('stuck', 'Ready', 'Ready')
  const finalizers = ['example.com/load-balancer']
  await fleet.patch(services, 'stuck-router', { metadata: { finalizers } })
  await fleet.delete(rpcRouters, 'stuck')
  await fleet.router('stuck')
  const isWaitedFor = (owner: string) =>
    eventually(async () => {
      const { message } = await fleet.routerIs('stuck', 'Programmed', 'StillDeleting')
      expect(message).toBe(
        `the Service stuck-router of ${owner} is still being deleted, held by its finalizers: example.com/load-balancer.`,
      )
    })
  // The deletion of other objects of the earlier router comes first.
  await isWaitedFor('an earlier RpcRouter of this name')
  await fleet.patch(services, 'stuck-router', { metadata: { finalizers: null } })
  await fleet.routerIs('stuck', 'Programmed', 'Programmed')
  // The same applies to its own Service.
  await fleet.patch(services, 'stuck-router', { metadata: { finalizers } })
  await fleet.delete(services, 'stuck-router')
  await isWaitedFor('this RpcRouter')
  await fleet.patch(services, 'stuck-router', { metadata: { finalizers: null } })
  await fleet.routerIs('stuck', 'Programmed', 'Programmed')
})

test('quantities in another notation are written once, even by a new operator', async () => {
  await fleet.provider('words', 'words-a')
  const resources = { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { memory: '1024Mi' } }
  await fleet.router('words', { pod: { resources, rollout: { minReadySeconds: 0 } } })
  await fleet.routerIs('words', 'Progressing', 'RolloutComplete')
  await quiet(operated.running)
  await using second = await operated.run()
  await eventually(() => second.operator.hasSynced)
  await quiet(second)
  expect(writes(second.requests).filter(({ resource }) => resource === 'deployments')).toEqual([])
})
