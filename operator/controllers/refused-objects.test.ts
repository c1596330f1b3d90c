// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { ApiError } from '../kube/errors.ts'
import type { Resource } from '../kube/object.ts'
import type { ReceivedRequest } from '../kube/testing/fake-api-server.ts'
import {
  configMaps,
  deployments,
  horizontalPodAutoscalers,
  networkPolicies,
  podDisruptionBudgets,
  rpcRouters,
  serviceAccounts,
  services,
  upstreamProviders,
} from '../resources/kinds.ts'
import { appliedAnnotation } from '../resources/labels.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

const refused = (plural: string) =>
  new ApiError(`PATCH ${plural}`, 403, { reason: 'Forbidden', message: 'exceeded quota' })

const refusing =
  (...plurals: readonly string[]) =>
  ({ verb, plural }: ReceivedRequest) =>
    (verb === 'patch' || verb === 'delete') && plurals.includes(plural) ? refused(plural) : null

const autoscaling = { minReplicas: 2, maxReplicas: 5 }

async function servingDesk(spec: object = {}): Promise<OperatorHarness> {
  const desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r', spec)
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  return desk
}

const programmed = (desk: OperatorHarness) => desk.conditions(rpcRouters, 'r')['Programmed']

/** What the pods are asked to run: the text of the config that the Deployment points to. */
function configOfPods(desk: OperatorHarness): string {
  const volumes = JSON.stringify(desk.get(deployments, 'r-router').spec.template.spec?.volumes)
  const name = desk.names(configMaps).find((each) => volumes.includes(each)) ?? ''
  return JSON.stringify(desk.get(configMaps, name).data)
}

/** A config that differs from all before it in nothing that opens a port. */
async function wish(desk: OperatorHarness, host: string): Promise<void> {
  desk.provider('a', `https://${host}:8443`)
  await desk.pass(5_000)
}

describe.each([
  ['HorizontalPodAutoscaler', horizontalPodAutoscalers, { autoscaling }],
  ['PodDisruptionBudget', podDisruptionBudgets, { replicas: 3 }],
])('while the API server refuses the %s', (_, resource, spec) => {
  test('configs change, and clients are sent where the pods are', async () => {
    await using desk = await servingDesk({ replicas: 1 })
    desk.keeper.refuse = refusing(resource.plural)
    const endpoint = { name: 'mainnet', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' }
    desk.router('r', { ...spec, endpoints: [endpoint] })
    await desk.pass(5_000)
    expect(programmed(desk)).toBe(
      `False/ApplyFailed@2: PATCH ${resource.plural}: Forbidden: exceeded quota. All else is applied.`,
    )
    expect(desk.get(services, 'r-router').spec.ports).toMatchObject([{ name: 'mainnet' }])
    for (const host of ['b.example', 'c.example']) {
      await wish(desk, host)
      expect(configOfPods(desk)).toContain(host)
      expect(programmed(desk)).toMatch(/^False\/ApplyFailed@2/)
      expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    }
    expect(desk.names(resource)).toEqual([])
    expect(desk.events.filter((reason) => reason === 'ApplyFailed')).toHaveLength(1)
    desk.keeper.refuse = () => null
    await desk.pass(121_000)
    expect(desk.names(resource)).toEqual(['r-router'])
    expect(programmed(desk)).toMatch(/^True/)
  })

  test('a rollout has its event, though its first attempt changes nothing in the status', async () => {
    await using desk = await servingDesk({ replicas: 1 })
    const before = desk.events.filter((reason) => reason === 'ConfigRendered').length
    desk.keeper.refuse = refusing(resource.plural)
    desk.router('r', { ...spec, relay: { strategy: 'latency' } })
    await desk.pass(5_000)
    const after = desk.events.filter((reason) => reason === 'ConfigRendered').length
    expect(after - before).toBe(1)
  })
})

test('a name that a foreign object has is no reason to leave what serves', async () => {
  await using desk = await servingDesk({ replicas: 1 })
  const metadata = { namespace: 'ns', name: 'r-router' }
  desk.keeper.put(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
  })
  desk.router('r', { replicas: 3 })
  await wish(desk, 'b.example')
  expect(programmed(desk)).toMatch(
    /^False\/NameConflict@2: a PodDisruptionBudget named r-router exists/,
  )
  expect(configOfPods(desk)).toContain('b.example')
  expect(desk.get(deployments, 'r-router').spec.replicas).toBe(3)
})

test('behind a foreign Service no listener is open, nor has a URL', async () => {
  await using desk = new OperatorHarness()
  const metadata = { namespace: 'ns', name: 'r-router' }
  desk.keeper.put(services, { apiVersion: 'v1', kind: 'Service', metadata })
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  expect(programmed(desk)).toMatch(/^False\/NameConflict@1: a Service named r-router exists/)
  const status = () => desk.status(rpcRouters, 'r')
  expect(status()).toMatchObject({ summary: { listeners: 0 }, listeners: [{ port: 3360 }] })
  expect(JSON.stringify(status()['listeners'])).not.toContain('url')
  desk.remove(services, 'r-router')
  await desk.pass(60_000)
  desk.rollOut('r')
  await desk.pass()
  expect(status()).toMatchObject({
    summary: { listeners: 1 },
    listeners: [{ url: 'http://r-router.ns.svc:3360' }],
  })
})

test('the status names every refused object', async () => {
  await using desk = await servingDesk({ replicas: 1 })
  desk.keeper.refuse = refusing('horizontalpodautoscalers', 'poddisruptionbudgets')
  desk.router('r', { autoscaling })
  await desk.pass(5_000)
  expect(programmed(desk)).toBe(
    'False/ApplyFailed@2: PATCH horizontalpodautoscalers: Forbidden: exceeded quota. PATCH poddisruptionbudgets: Forbidden: exceeded quota. All else is applied.',
  )
})

test('objects that do not depend on it are applied beside a refused Deployment', async () => {
  await using desk = await servingDesk({ replicas: 1 })
  desk.keeper.refuse = refusing('deployments')
  desk.router('r', { replicas: 3 })
  await desk.pass(5_000)
  expect(desk.names(podDisruptionBudgets)).toEqual(['r-router'])
  expect(programmed(desk)).toBe('False/ApplyFailed@2: PATCH deployments: Forbidden: exceeded quota')
})

test('an autoscaler that cannot be deleted keeps the count', async () => {
  await using desk = await servingDesk({ autoscaling })
  desk.keeper.refuse = refusing('horizontalpodautoscalers')
  desk.router('r', { replicas: 4 })
  await wish(desk, 'b.example')
  expect(configOfPods(desk)).toContain('b.example')
  expect(desk.get(deployments, 'r-router').spec).not.toHaveProperty('replicas')
  desk.keeper.refuse = () => null
  await desk.pass(121_000)
  expect(desk.names(horizontalPodAutoscalers)).toEqual([])
  expect(desk.get(deployments, 'r-router').spec.replicas).toBe(4)
})

describe('an object that pods start with', () => {
  /** The object differs from what is wanted, and cannot be changed. */
  function spoil(desk: OperatorHarness, resource: Resource): void {
    const found = desk.get(resource, 'r-router')
    const annotations = { ...found.metadata.annotations, [appliedAnnotation]: 'of old' }
    desk.keeper.put(resource, { ...found, metadata: { ...found.metadata, annotations } })
    desk.keeper.refuse = refusing(resource.plural)
  }

  test('a ServiceAccount that is there, and does, holds nothing back', async () => {
    await using desk = await servingDesk()
    spoil(desk, serviceAccounts)
    await wish(desk, 'b.example')
    expect(programmed(desk)).toMatch(/^False\/ApplyFailed@1: .* All else is applied\.$/)
    expect(configOfPods(desk)).toContain('b.example')
  })

  test.each([
    // New pods may need another port.
    ['NetworkPolicy', networkPolicies],
    // No pod starts without it.
    ['ServiceAccount', serviceAccounts],
  ])('a %s that is lost leaves pods with the old config', async (_, resource) => {
    await using desk = await servingDesk()
    desk.keeper.refuse = refusing(resource.plural)
    desk.remove(resource, 'r-router')
    await wish(desk, 'b.example')
    expect(programmed(desk)).toMatch(/^False\/ApplyFailed@1/)
    expect(configOfPods(desk)).toContain('a.example')
  })

  test('no pod is started without its NetworkPolicy', async () => {
    await using desk = new OperatorHarness()
    desk.keeper.refuse = refusing('networkpolicies')
    desk.provider('a')
    desk.router('r')
    await desk.pass(5_000)
    expect(desk.names(deployments)).toEqual([])
    desk.keeper.refuse = () => null
    await desk.pass(121_000)
    expect(desk.names(deployments)).toEqual(['r-router'])
  })

  test('pods that need a port wait for the NetworkPolicy that opens it, and their clients with them', async () => {
    await using desk = await servingDesk()
    const before = desk.get(services, 'r-router')
    desk.keeper.refuse = refusing('networkpolicies')
    const endpoint = { name: 'mainnet', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }
    desk.router('r', { endpoints: [endpoint] })
    await wish(desk, 'b.example')
    expect(programmed(desk)).toBe(
      'False/ApplyFailed@2: PATCH networkpolicies: Forbidden: exceeded quota',
    )
    expect(configOfPods(desk)).toContain('a.example')
    expect(desk.get(services, 'r-router')).toEqual(before)
  })
})
