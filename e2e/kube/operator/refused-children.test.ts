// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { KubeObject, Resource } from '../../../operator/kube/object.ts'
import {
  configMaps,
  deployments,
  networkPolicies,
  rpcRouters,
  upstreamProviders,
} from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { useOperatedFleet } from './operated-fleet.ts'

const quotaOn = ['configmaps', 'networkpolicies', 'horizontalpodautoscalers']
const { place, fleet } = useOperatedFleet({}, () => 'ready', { quotaOn })

interface ResourceQuota extends KubeObject {
  readonly spec: { readonly hard: Readonly<Record<string, string>> }
  readonly status?: { readonly hard?: Readonly<Record<string, string>> }
}

const quotas: Resource<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
}

/** Sets a quota, and waits until the API server applies it. */
async function quota(name: string, hard: Readonly<Record<string, string>>): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard } }
  const options = { fieldManager: 'test', force: true }
  const metadata = { ...object.metadata, namespace: place.namespace }
  await place.client.apply(quotas, { ...object, metadata }, options, place.signal)
  await eventually(async () => {
    expect((await fleet.get(quotas, name)).status?.hard).toEqual(hard)
  })
}

async function configsOf(router: string): Promise<readonly string[]> {
  const all = (await fleet.list(configMaps)).map(({ metadata }) => metadata.name)
  return all.filter((name) => name.startsWith(`${router}-router-`))
}

async function egress(router: string): Promise<readonly unknown[]> {
  const { spec } = await fleet.get(networkPolicies, `${router}-router`)
  return spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
}

const urlOf = (port: number) => `http://node.example:${port}`

/** The name of the config that contains a port of a node. */
function configWith(router: string, port: number): Promise<string> {
  return eventually(async () => {
    const found = (await fleet.list(configMaps)).find(
      ({ metadata, data }) =>
        metadata.name.startsWith(`${router}-router-`) && JSON.stringify(data).includes(urlOf(port)),
    )
    if (found === undefined) throw new Error(`no config of ${router} has the port ${port}`)
    return found.metadata.name
  })
}

/** Changes the port of a provider, and waits for a config with it. */
async function changePort(router: string, port: number): Promise<void> {
  const nodeUrls = [{ url: urlOf(port) }]
  await fleet.patch(upstreamProviders, `${router}-a`, { spec: { nodeUrls } })
  await configWith(router, port)
}

/** Triggers a reconcile at once. */
async function requeue(router: string): Promise<void> {
  await fleet.patch(rpcRouters, router, {
    metadata: { annotations: { 'example.com/look': 'now' } },
  })
}

test('a router whose NetworkPolicy is refused leaves no configs behind, and recovers afterwards', async () => {
  const networkPolicy = 'count/networkpolicies.networking.k8s.io'
  // The quota allows kube-root-ca.crt and two more ConfigMaps.
  await quota('few', { [networkPolicy]: '0', 'count/configmaps': '3' })
  await fleet.provider('new', 'new-a', { nodeUrls: [{ url: 'http://node.example:9000' }] })
  await fleet.router('new')
  const { message } = await fleet.routerIs('new', 'Programmed', 'ApplyFailed')
  expect(message).toContain('networkpolicies')
  for (const port of [9001, 9002, 9003, 9004]) await changePort('new', port)
  await eventually(async () => expect(await configsOf('new')).toHaveLength(1))
  await quota('few', { [networkPolicy]: '10', 'count/configmaps': '3' })
  await requeue('new')
  await fleet.routerIs('new', 'Ready', 'Ready')
  expect(await egress('new')).toEqual([53, 53, 5353, 5353, 9004])
  expect(await configsOf('new')).toHaveLength(1)
  await fleet.delete(quotas, 'few')
})

test('a router whose autoscaler is refused still rolls out, with its previous count', async () => {
  await fleet.provider('run', 'run-a', { nodeUrls: [{ url: 'http://node.example:8545' }] })
  await fleet.router('run', { replicas: 3 })
  await fleet.routerIs('run', 'Progressing', 'RolloutComplete')
  await quota('none', { 'count/horizontalpodautoscalers.autoscaling': '0' })
  const autoscaling = { minReplicas: 2, maxReplicas: 4 }
  await fleet.patch(rpcRouters, 'run', { spec: { replicas: null, autoscaling } })
  const { message } = await fleet.routerIs('run', 'Programmed', 'ApplyFailed')
  expect(message).toContain('horizontalpodautoscalers')
  for (const port of [9001, 9002]) {
    await changePort('run', port)
    await eventually(async () => {
      const { spec, status } = await fleet.get(deployments, 'run-router')
      const volumes = JSON.stringify(spec.template.spec?.volumes)
      expect(volumes).toContain(await configWith('run', port))
      expect([spec.replicas, status?.updatedReplicas, status?.replicas]).toEqual([3, 3, 3])
    })
    expect(await egress('run')).toContain(port)
  }
  await fleet.delete(quotas, 'none')
  await requeue('run')
  await fleet.routerIs('run', 'Ready', 'Ready')
  expect((await fleet.get(deployments, 'run-router')).spec.replicas).toBe(3)
})
