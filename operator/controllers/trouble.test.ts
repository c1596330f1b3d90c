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
    ['will not have an object', 403, 'exceeded quota'],
    ['fails at an object and goes on failing', 500, 'failed to create typed patch object'],
    ['cannot reach its webhook', 500, 'failed calling webhook'],
    ['asks for a long wait', 503, 'busy'],
    ['always loses to another writer', 409, 'the object has been modified'],
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

  test('will not have the Deployment is not asked to send clients where no pods are', async () => {
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

  test('failed for hours is tried again soon: no watch reports a raised quota', async () => {
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

  test('fails for a moment says nothing of it', async () => {
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

test('what is still being deleted is waited for, and named', async () => {
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
  // The new pods have it already.
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
  test('is reported by the routers that stay, though one that selects it is being deleted', async () => {
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

  test('can be of two routers; each says what it makes of it, by its name', async () => {
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
      // Its pods go on as they are.
      {
        name: 'two',
        conditions: [{ reason: 'ChainNotServed', message }, { status: 'True' }, unobserved],
      },
    ])
    expect(harness.conditions(rpcRouters, 'two')['Accepted']).toBe(
      'False/NoProviders@2: spec.endpoints[sepolia]: no UpstreamProvider of the namespace ns that providerSelector selects serves SEP1 jsonrpc.',
    )
  })

  test('is written once, however late the turn of its router comes', async () => {
    await using harness = new OperatorHarness()
    harness.api.hold = ({ verb, plural }) =>
      verb === 'patch' && plural === 'services'
        ? sleep(harness.clock, 100_000, new AbortController().signal)
        : Promise.resolve()
    harness.provider('a')
    const names = ['r', 's', 't', 'u', 'v', 'w']
    for (const name of names) harness.router(name)
    // Two at once.
    await harness.pass(250_000)
    expect(harness.status(upstreamProviders, 'a')).toEqual({})
    await harness.pass(60_000)
    expect(harness.status(upstreamProviders, 'a')['routers']).toHaveLength(names.length)
    const writes = harness.api.requests.filter(({ verb, plural }) => {
      return verb === 'patch' && plural === 'upstreamproviders'
    })
    expect(writes).toHaveLength(1)
  })

  test('is reported though the status of its router cannot be written', async () => {
    await using harness = new OperatorHarness()
    harness.api.refuse = ({ plural, name }) =>
      plural === 'rpcrouters' && name === 'mute' ? new ApiError('PATCH', 500, {}) : null
    harness.provider('a')
    harness.router('mute')
    await harness.pass()
    expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
  })
})

test('a router that fits the types no more keeps what its status says of the fleet', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
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

test('no Redis is run for a router that would be refused with it', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  const redis = { topology: 'cluster', addresses: ['b:1', 'b:1'] }
  harness.router('r', { sharedState: { mode: 'Managed' }, cache: { type: 'Redis', redis } })
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^False\/InvalidConfig/)
  expect([...harness.names(statefulSets), ...harness.names(secrets)]).toEqual([])
})

describe('a monitor of a kind that the cluster does not know', () => {
  const lists = ({ api }: OperatorHarness) =>
    api.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'podmonitors')

  test('is reported, and applied once the kind is installed', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r', { monitoring: { type: 'PodMonitor' } })
    harness.router('plain')
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toBe(
      'True/ProgrammedWithoutMonitor@1: All objects except the PodMonitor are applied: the cluster does not have this kind. The operator checks for it every minute.',
    )
    await harness.pass(600_000)
    expect(harness.names(podMonitors)).toEqual([])
    expect(lists(harness)).toHaveLength(11)
    harness.api.installed.add('podmonitors')
    await harness.pass(62_000)
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@1/)
    // It is watched from now on, and goes when it is no longer asked for.
    harness.remove(podMonitors, 'r-router')
    await harness.pass()
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    harness.router('r')
    await harness.pass()
    expect(harness.names(podMonitors)).toEqual([])
    expect(lists(harness)).toHaveLength(12)
    expect(harness.failures).toEqual([])
  })

  test('is looked for again when the API server fails', async () => {
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

  test('stops nothing when it may not be listed', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    harness.router('r')
    harness.api.refuse = ({ plural }) =>
      plural.endsWith('monitors') ? new ApiError('GET', 403, { reason: 'Forbidden' }) : null
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  })

  const forgets = ({ api }: OperatorHarness, status: number) => {
    api.installed.delete('podmonitors')
    api.refuse = ({ plural }) =>
      plural === 'podmonitors'
        ? new ApiError('PATCH podmonitors', status, { message: '404 page not found' })
        : null
  }

  test.each([
    ['is removed', 404],
    ['is about to be removed', 405],
  ])('any more, since it %s, keeps nothing else from being done', async (_, status) => {
    await using harness = new OperatorHarness()
    harness.api.installed.add('podmonitors')
    harness.provider('a')
    harness.router('r', { monitoring: { type: 'PodMonitor' } })
    await harness.pass(62_000)
    harness.rollOut('r')
    await harness.pass()
    expect(harness.names(podMonitors)).toEqual(['r-router'])
    forgets(harness, status)
    harness.remove(podMonitors, 'r-router')
    await harness.pass()
    const without = /^True\/ProgrammedWithoutMonitor/
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(without),
      Ready: expect.stringMatching(/^True/),
    })
    // Objects that are no longer wanted are deleted all the same, and the status of providers is
    // true.
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
  'writes that are refused since their namespace is %s are no failure',
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
