// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import { ApiError } from '../kube/errors.ts'
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

const refused = (plural: string) =>
  new ApiError(`PATCH ${plural}`, 403, { reason: 'Forbidden', message: 'exceeded quota' })

const refusing =
  (...plurals: readonly string[]) =>
  ({ verb, plural }: ReceivedRequest) =>
    (verb === 'patch' || verb === 'delete') && plurals.includes(plural) ? refused(plural) : null

const autoscaling = { minReplicas: 2, maxReplicas: 5 }

const programmed = (harness: OperatorHarness) => harness.conditions(rpcRouters, 'r')['Programmed']

/** Returns the config that the Deployment refers to. */
function configOfPods(harness: OperatorHarness): string {
  const volumes = JSON.stringify(harness.get(deployments, 'r-router').spec.template.spec?.volumes)
  const name = harness.names(configMaps).find((each) => volumes.includes(each)) ?? ''
  return JSON.stringify(harness.get(configMaps, name).data)
}

/** Changes the config without opening another port. */
async function setHost(harness: OperatorHarness, host: string): Promise<void> {
  harness.provider('a', `https://${host}:8443`)
  await harness.pass(5_000)
}

describe.each([
  ['HorizontalPodAutoscaler', horizontalPodAutoscalers, { autoscaling }],
  ['PodDisruptionBudget', podDisruptionBudgets, { replicas: 3 }],
])('when the API server refuses the %s', (_, resource, spec) => {
  test('configs and the Service still change', async () => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 1 } })
    harness.api.refuse = refusing(resource.plural)
    const endpoint = { name: 'mainnet', port: 3360, chainId: 'ETH1', apiInterface: 'jsonrpc' }
    harness.router('r', { ...spec, endpoints: [endpoint] })
    await harness.pass(5_000)
    expect(programmed(harness)).toBe(
      `False/ApplyFailed@2: PATCH ${resource.plural}: Forbidden: exceeded quota`,
    )
    expect(harness.get(services, 'r-router').spec.ports).toMatchObject([{ name: 'mainnet' }])
    for (const host of ['b.example', 'c.example']) {
      await setHost(harness, host)
      expect(configOfPods(harness)).toContain(host)
      expect(programmed(harness)).toMatch(/^False\/ApplyFailed@2/)
      expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    }
    expect(harness.names(resource)).toEqual([])
    expect(harness.events.filter((reason) => reason === 'ApplyFailed')).toHaveLength(1)
    harness.api.refuse = () => null
    await harness.pass(121_000)
    expect(harness.names(resource)).toEqual(['r-router'])
    expect(programmed(harness)).toMatch(/^True/)
  })

  test('a rollout records an Event, even if the first attempt leaves the status unchanged', async () => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 1 } })
    const before = harness.events.filter((reason) => reason === 'ConfigRendered').length
    harness.api.refuse = refusing(resource.plural)
    harness.router('r', { ...spec, relay: { strategy: 'latency' } })
    await harness.pass(5_000)
    const after = harness.events.filter((reason) => reason === 'ConfigRendered').length
    expect(after - before).toBe(1)
  })
})

test('a name conflict does not stop changes to other objects', async () => {
  await using harness = await OperatorHarness.serving({ spec: { replicas: 1 } })
  const metadata = { namespace: 'ns', name: 'r-router' }
  harness.api.put(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
  })
  harness.router('r', { replicas: 3 })
  await setHost(harness, 'b.example')
  expect(programmed(harness)).toMatch(
    /^False\/NameConflict@2: a PodDisruptionBudget named r-router exists/,
  )
  expect(configOfPods(harness)).toContain('b.example')
  expect(harness.get(deployments, 'r-router').spec.replicas).toBe(3)
})

test('with a foreign Service no listener is open or has a URL', async () => {
  await using harness = new OperatorHarness()
  const metadata = { namespace: 'ns', name: 'r-router' }
  harness.api.put(services, { apiVersion: 'v1', kind: 'Service', metadata })
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  expect(programmed(harness)).toMatch(/^False\/NameConflict@1: a Service named r-router exists/)
  const status = () => harness.status(rpcRouters, 'r')
  expect(status()).toMatchObject({ summary: { listeners: 0 }, listeners: [{ port: 3360 }] })
  expect(JSON.stringify(status()['listeners'])).not.toContain('url')
  harness.remove(services, 'r-router')
  await harness.pass(60_000)
  harness.rollOut('r')
  await harness.pass()
  expect(status()).toMatchObject({
    summary: { listeners: 1 },
    listeners: [{ url: 'http://r-router.ns.svc:3360' }],
  })
})

test('a refused Deployment does not block independent objects', async () => {
  await using harness = await OperatorHarness.serving({ spec: { replicas: 1 } })
  harness.api.refuse = refusing('deployments')
  harness.router('r', { replicas: 3 })
  await harness.pass(5_000)
  expect(harness.names(podDisruptionBudgets)).toEqual(['r-router'])
  expect(programmed(harness)).toBe(
    'False/ApplyFailed@2: PATCH deployments: Forbidden: exceeded quota',
  )
})

test('pods wait for the deletion of their autoscaler, which keeps the count', async () => {
  await using harness = await OperatorHarness.serving({ spec: { autoscaling } })
  harness.api.refuse = refusing('horizontalpodautoscalers')
  harness.router('r', { replicas: 4 })
  await setHost(harness, 'b.example')
  expect(configOfPods(harness)).toContain('a.example')
  expect(harness.get(deployments, 'r-router').spec).not.toHaveProperty('replicas')
  harness.api.refuse = () => null
  await harness.pass(121_000)
  expect(harness.names(horizontalPodAutoscalers)).toEqual([])
  expect(configOfPods(harness)).toContain('b.example')
  expect(harness.get(deployments, 'r-router').spec.replicas).toBe(4)
})

describe('an object that pods start with', () => {
  test.each([
    // New pods may need another port.
    ['NetworkPolicy', networkPolicies],
    // No pod starts without it.
    ['ServiceAccount', serviceAccounts],
  ])('a missing %s leaves pods with the old config', async (_, resource) => {
    await using harness = await OperatorHarness.serving()
    harness.api.refuse = refusing(resource.plural)
    harness.remove(resource, 'r-router')
    await setHost(harness, 'b.example')
    expect(programmed(harness)).toMatch(/^False\/ApplyFailed@1/)
    expect(configOfPods(harness)).toContain('a.example')
  })

  test('no pod is started without its NetworkPolicy', async () => {
    await using harness = new OperatorHarness()
    harness.api.refuse = refusing('networkpolicies')
    harness.provider('a')
    harness.router('r')
    await harness.pass(5_000)
    expect(harness.names(deployments)).toEqual([])
    harness.api.refuse = () => null
    await harness.pass(121_000)
    expect(harness.names(deployments)).toEqual(['r-router'])
  })

  test('pods wait for the NetworkPolicy that opens their port, and the Service waits for the pods', async () => {
    await using harness = await OperatorHarness.serving()
    const before = harness.get(services, 'r-router')
    harness.api.refuse = refusing('networkpolicies')
    const endpoint = { name: 'mainnet', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }
    harness.router('r', { endpoints: [endpoint] })
    await setHost(harness, 'b.example')
    expect(programmed(harness)).toBe(
      'False/ApplyFailed@2: PATCH networkpolicies: Forbidden: exceeded quota',
    )
    expect(configOfPods(harness)).toContain('a.example')
    expect(harness.get(services, 'r-router')).toEqual(before)
  })
})
