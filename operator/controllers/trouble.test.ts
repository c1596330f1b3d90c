// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { sleep } from '../kube/clock.ts'
import { ApiError } from '../kube/errors.ts'
import {
  networkPolicies,
  podMonitors,
  rpcRouters,
  secrets,
  serviceMonitors,
  services,
  statefulSets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

describe('an API server that', () => {
  const fails = (status: number, message: string) => (request: { plural: string; verb: string }) =>
    request.plural === 'deployments' && request.verb === 'patch'
      ? new ApiError('PATCH deployments', status, { reason: 'InternalError', message })
      : null

  test.each([
    ['refuses an object', 403, 'exceeded quota'],
    ['keeps failing at an object', 500, 'failed to create typed patch object'],
    ['cannot reach its webhook', 500, 'failed calling webhook'],
    ['asks for a long delay', 503, 'busy'],
    ['always reports a conflict', 409, 'the object has been modified'],
  ])('%s is quoted in the status, with an event', async (_, status, message) => {
    await using harness = new OperatorHarness()
    harness.api.refuse = fails(status, message)
    harness.provider('a')
    harness.router('r')
    await harness.pass(5_000)
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: `False/ApplyFailed@1: PATCH deployments: InternalError: ${message}`,
      Ready: expect.stringMatching(/^False\/NotProgrammed@1/),
    })
    expect(harness.status(rpcRouters, 'r')['observedGeneration']).toBe(1)
    expect(harness.events).toEqual(['ApplyFailed'])
    expect(harness.conditions(upstreamProviders, 'a')).toMatchObject({
      Accepted: expect.stringMatching(/^True/),
      Ready: expect.stringMatching(/^False\/NotProgrammed@1/),
    })
    harness.router('r', { replicas: 3 })
    await harness.pass(5_000)
    expect(harness.status(rpcRouters, 'r')['observedGeneration']).toBe(2)
    harness.api.refuse = () => null
    await harness.pass(120_000)
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(/^True\/Programmed@2/),
    })
    expect(harness.failures.length).toBeGreaterThan(5)
  })

  test('refuses the Deployment gets no new Service, so clients stay with the old pods', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r')
    await harness.pass()
    const before = harness.get(services, 'r-router')
    harness.api.refuse = fails(422, 'Invalid')
    const endpoint = { chainId: 'ETH1', apiInterface: 'jsonrpc' }
    harness.router('r', { endpoints: [{ name: 'mainnet', port: 3361, ...endpoint }] })
    await harness.pass(5_000)
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/ApplyFailed@2/)
    expect(harness.get(services, 'r-router')).toEqual(before)
    harness.api.refuse = () => null
    await harness.pass(121_000)
    expect(harness.get(services, 'r-router').spec.ports).toMatchObject([
      { name: 'mainnet', port: 3361 },
    ])
  })

  test('fails for hours is still retried soon, since no watch reports a raised quota', async () => {
    await using harness = new OperatorHarness()
    harness.api.refuse = fails(403, 'exceeded quota')
    harness.provider('a')
    harness.router('r')
    await harness.pass(4 * 3_600_000)
    const { length } = harness.failures
    await harness.pass(3_600_000)
    expect(harness.failures.length - length).toBe(30)
    harness.api.refuse = () => null
    await harness.pass(121_000)
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  })

  test('fails briefly leaves no trace in the status', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r')
    await harness.pass()
    harness.api.refuse = fails(500, 'etcdserver: leader changed')
    harness.router('r', { replicas: 3 })
    await harness.pass(500)
    harness.api.refuse = () => null
    await harness.pass(5_000)
    expect(harness.failures.length).toBeGreaterThan(2)
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(/^True\/Programmed@2/),
    })
    expect(harness.events).not.toContain('ApplyFailed')
  })
})

test('an object that is still being deleted is waited for and named', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  const service = harness.get(services, 'r-router')
  const metadata = { ...service.metadata, finalizers: ['example.com/load-balancer'] }
  harness.api.put(services, { ...service, metadata })
  harness.remove(rpcRouters, 'r')
  await harness.pass()
  harness.collectGarbage()
  harness.router('r')
  await harness.pass(5_000)
  expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
    Programmed:
      'False/StillDeleting@1: the Service r-router of an earlier RpcRouter of this name is still being deleted, held by its finalizers: example.com/load-balancer.',
  })
  expect(harness.events.filter((reason) => reason === 'StillDeleting')).toHaveLength(1)
  // The new pods already use the provider.
  expect(harness.conditions(upstreamProviders, 'a')).toMatchObject({
    Ready: expect.stringMatching(/^True/),
  })
  harness.api.finish(services, { namespace: 'ns', name: 'r-router' })
  await harness.pass(5_000)
  expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
    Programmed: expect.stringMatching(/^True/),
  })
})

describe('a provider', () => {
  test('is reported by the remaining routers while another one is being deleted', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('leaving', {}, { finalizers: ['example.com/slow'] })
    harness.router('staying')
    await harness.pass()
    harness.remove(rpcRouters, 'leaving')
    await harness.pass()
    harness.provider('a', 'https://changed.example')
    harness.provider('b')
    await harness.pass()
    for (const [name, generation] of [
      ['a', 2],
      ['b', 1],
    ] as const) {
      expect(harness.status(upstreamProviders, name)).toMatchObject({
        observedGeneration: generation,
        routers: [{ name: 'staying' }],
      })
      expect(harness.conditions(upstreamProviders, name)['Ready']).toMatch(/^True/)
    }
  })

  test('of two routers has a result for each', async () => {
    await using harness = new OperatorHarness()
    const sepolia = { name: 'sepolia', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' }
    harness.provider('a')
    for (const name of ['one', 'two']) harness.router(name)
    await harness.pass()
    expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    expect(harness.status(upstreamProviders, 'a')).toMatchObject({
      summary: { routers: '2/2' },
      routers: [{ name: 'one' }, { name: 'two' }],
    })
    harness.router('two', { endpoints: [sepolia] })
    await harness.pass()
    expect(harness.conditions(upstreamProviders, 'a')).toMatchObject({
      Accepted: 'True/Accepted@1: It is valid.',
      Ready: expect.stringMatching(/^True/),
    })
    const message =
      'spec.chainId: the RpcRouter two has no endpoint for ETH1 jsonrpc, only for SEP1 jsonrpc.'
    const unobserved = { type: 'Healthy', status: 'Unknown' }
    expect(harness.status(upstreamProviders, 'a')['routers']).toMatchObject([
      { name: 'one', conditions: [{ status: 'True' }, { status: 'True' }, unobserved] },
      // The pods of the second router are unchanged.
      {
        name: 'two',
        conditions: [{ reason: 'ChainNotServed', message }, { status: 'True' }, unobserved],
      },
    ])
    expect(harness.conditions(rpcRouters, 'two')['Accepted']).toBe(
      'False/NoProviders@2: spec.endpoints[sepolia]: no UpstreamProvider of the namespace ns that providerSelector selects serves SEP1 jsonrpc.',
    )
  })

  test('is written once, even if its routers report late', async () => {
    await using harness = new OperatorHarness()
    harness.api.hold = ({ verb, plural }) =>
      verb === 'patch' && plural === 'services'
        ? sleep(harness.clock, 100_000, new AbortController().signal)
        : Promise.resolve()
    harness.provider('a')
    const names = ['r', 's', 't', 'u', 'v', 'w']
    for (const name of names) harness.router(name)
    // Two workers.
    await harness.pass(250_000)
    expect(harness.status(upstreamProviders, 'a')).toEqual({})
    await harness.pass(60_000)
    expect(harness.status(upstreamProviders, 'a')['routers']).toHaveLength(names.length)
    const writes = harness.api.requests.filter(({ verb, plural }) => {
      return verb === 'patch' && plural === 'upstreamproviders'
    })
    expect(writes).toHaveLength(1)
  })

  test('is reported even if the status of its router cannot be written', async () => {
    await using harness = new OperatorHarness()
    harness.api.refuse = ({ plural, name }) =>
      plural === 'rpcrouters' && name === 'mute' ? new ApiError('PATCH', 500, {}) : null
    harness.provider('a')
    harness.router('mute')
    await harness.pass()
    expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
  })
})

test('a router that no longer matches the schema keeps the status of its fleet', async () => {
  await using harness = await OperatorHarness.serving()
  const before = harness.status(rpcRouters, 'r')
  harness.router('r', { endpoints: 'of another time' })
  await harness.pass()
  const { conditions: _, observedGeneration, ...rest } = harness.status(rpcRouters, 'r')
  expect(before).toMatchObject(rest)
  expect(rest).toMatchObject({ replicas: 2, selector: expect.any(String), summary: {} })
  expect(observedGeneration).toBe(2)
  expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
    Accepted: expect.stringMatching(/^False\/InvalidSpec@2: spec.endpoints/),
    Available: expect.stringMatching(/^True\/MinimumReplicasAvailable/),
    Ready: expect.stringMatching(/^False\/NotAccepted@2/),
  })
  harness.count('r', { replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 })
  await harness.pass()
  expect(harness.status(rpcRouters, 'r')).toMatchObject({
    readyReplicas: 1,
    summary: { replicas: '1/2' },
  })
})

test('no Redis is started for a refused router', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  const redis = { topology: 'cluster', addresses: ['b:1', 'b:1'] }
  harness.router('r', { sharedState: { mode: 'Managed' }, cache: { type: 'Redis', redis } })
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^False\/InvalidConfig/)
  expect([...harness.names(statefulSets), ...harness.names(secrets)]).toEqual([])
})

describe('a monitor of a missing kind', () => {
  const lists = ({ api }: OperatorHarness) =>
    api.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'podmonitors')

  test('is reported, and applied once the kind is installed', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r', { monitoring: { type: 'PodMonitor' } })
    harness.router('plain')
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toBe(
      'True/ProgrammedWithoutMonitor@1: All objects except the PodMonitor are applied: the cluster does not have this kind, or the operator may not list it (rbac.monitors of the chart). It checks every minute.',
    )
    await harness.pass(600_000)
    expect(harness.names(podMonitors)).toEqual([])
    expect(lists(harness)).toHaveLength(11)
    harness.api.installed.add('podmonitors')
    await harness.pass(62_000)
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@1/)
    // The operator watches it from now on, and deletes it once it is no longer wanted.
    harness.remove(podMonitors, 'r-router')
    await harness.pass()
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    harness.router('r')
    await harness.pass()
    expect(harness.names(podMonitors)).toEqual([])
    expect(lists(harness)).toHaveLength(12)
    expect(harness.failures).toEqual([])
  })

  test('is checked for again after a failure of the API server', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r', { monitoring: { type: 'ServiceMonitor' } })
    harness.api.installed.add('servicemonitors')
    harness.api.refuse = ({ verb, plural }) =>
      verb === 'list' && plural === 'servicemonitors' ? new ApiError('GET', 500, {}) : null
    await harness.pass(150_000)
    harness.api.refuse = () => null
    await harness.pass(62_000)
    expect(harness.names(serviceMonitors)).toEqual(['r-router'])
  })

  test('blocks nothing if listing it is forbidden', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r', { monitoring: { type: 'PodMonitor' } })
    harness.api.refuse = ({ plural }) =>
      plural.endsWith('monitors') ? new ApiError('GET', 403, { reason: 'Forbidden' }) : null
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(
      /^True.* the operator may not list it/,
    )
    expect(harness.failures).toEqual([])
  })

  const uninstall = ({ api }: OperatorHarness, status: number) => {
    api.installed.delete('podmonitors')
    api.refuse = ({ plural }) =>
      plural === 'podmonitors'
        ? new ApiError('PATCH podmonitors', status, { message: '404 page not found' })
        : null
  }

  test.each([
    ['was removed', 404],
    ['is being removed', 405],
  ])('that %s blocks nothing else', async (_, status) => {
    await using harness = new OperatorHarness()
    harness.api.installed.add('podmonitors')
    harness.provider('a')
    harness.router('r', { monitoring: { type: 'PodMonitor' } })
    await harness.pass(62_000)
    harness.rollOut('r')
    await harness.pass()
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    uninstall(harness, status)
    harness.remove(podMonitors, 'r-router')
    await harness.pass()
    const without = /^True\/ProgrammedWithoutMonitor/
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(without),
      Ready: expect.stringMatching(/^True/),
    })
    // Obsolete objects are still deleted, and the status of providers is correct.
    harness.provider('b')
    harness.router('r', { monitoring: { type: 'PodMonitor' }, networkPolicy: { enabled: false } })
    await harness.pass()
    expect(harness.names(networkPolicies)).toEqual([])
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(without)
    expect(harness.conditions(upstreamProviders, 'b')['Ready']).toMatch(/^True/)
    await harness.pass(200_000)
    expect(harness.failures).toEqual([])
    expect(harness.events).not.toContain('ApplyFailed')
    harness.api.refuse = () => null
    harness.api.installed.add('podmonitors')
    await harness.pass(62_000)
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@/)
  })
})

const left = { reason: 'NamespaceTerminating' }

test.each([
  ['being deleted', 403, { reason: 'Forbidden', details: { causes: [left] } }],
  ['gone', 404, { reason: 'NotFound', details: { kind: 'namespaces' } }],
])(
  'writes that are refused because their namespace is %s are not failures',
  async (_, status, body) => {
    await using harness = new OperatorHarness()
    harness.api.refuse = ({ verb }) =>
      verb === 'patch' ? new ApiError('PATCH configmaps', status, body) : null
    harness.provider('a')
    harness.router('r')
    await harness.pass(600_000)
    expect(harness.failures).toEqual([])
  },
)
