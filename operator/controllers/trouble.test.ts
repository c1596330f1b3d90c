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
    await using desk = new OperatorHarness()
    desk.keeper.refuse = fails(status, message)
    desk.provider('a')
    desk.router('r')
    await desk.pass(5_000)
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: `False/ApplyFailed@1: PATCH deployments: InternalError: ${message}`,
      Ready: expect.stringMatching(/^False\/NotProgrammed@1/),
    })
    expect(desk.status(rpcRouters, 'r')['observedGeneration']).toBe(1)
    expect(desk.events).toEqual(['ApplyFailed'])
    expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
      Accepted: expect.stringMatching(/^True/),
      Ready: expect.stringMatching(/^False\/NotProgrammed@1/),
    })
    desk.router('r', { replicas: 3 })
    await desk.pass(5_000)
    expect(desk.status(rpcRouters, 'r')['observedGeneration']).toBe(2)
    desk.keeper.refuse = () => null
    await desk.pass(120_000)
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(/^True\/Programmed@2/),
    })
    expect(desk.failures.length).toBeGreaterThan(5)
  })

  test('will not have the Deployment is not asked to send clients where no pods are', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r')
    await desk.pass()
    const before = desk.get(services, 'r-router')
    desk.keeper.refuse = fails(422, 'Invalid')
    const endpoint = { chainId: 'ETH1', apiInterface: 'jsonrpc' }
    desk.router('r', { endpoints: [{ name: 'mainnet', port: 3361, ...endpoint }] })
    await desk.pass(5_000)
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/ApplyFailed@2/)
    expect(desk.get(services, 'r-router')).toEqual(before)
    desk.keeper.refuse = () => null
    await desk.pass(121_000)
    expect(desk.get(services, 'r-router').spec.ports).toMatchObject([
      { name: 'mainnet', port: 3361 },
    ])
  })

  test('failed for hours is tried again soon: no watch reports a raised quota', async () => {
    await using desk = new OperatorHarness()
    desk.keeper.refuse = fails(403, 'exceeded quota')
    desk.provider('a')
    desk.router('r')
    await desk.pass(4 * 3_600_000)
    const { length } = desk.failures
    await desk.pass(3_600_000)
    expect(desk.failures.length - length).toBe(30)
    desk.keeper.refuse = () => null
    await desk.pass(121_000)
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  })

  test('fails for a moment says nothing of it', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r')
    await desk.pass()
    desk.keeper.refuse = fails(500, 'etcdserver: leader changed')
    desk.router('r', { replicas: 3 })
    await desk.pass(500)
    desk.keeper.refuse = () => null
    await desk.pass(5_000)
    expect(desk.failures.length).toBeGreaterThan(2)
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(/^True\/Programmed@2/),
    })
    expect(desk.events).not.toContain('ApplyFailed')
  })
})

test('what is still being deleted is waited for, and named', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  const service = desk.get(services, 'r-router')
  const metadata = { ...service.metadata, finalizers: ['example.com/load-balancer'] }
  desk.keeper.put(services, { ...service, metadata })
  desk.remove(rpcRouters, 'r')
  await desk.pass()
  desk.collectGarbage()
  desk.router('r')
  await desk.pass(5_000)
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    Programmed:
      'False/StillDeleting@1: the Service r-router of an earlier RpcRouter of this name is still being deleted, held by its finalizers: example.com/load-balancer.',
  })
  expect(desk.events.filter((reason) => reason === 'StillDeleting')).toHaveLength(1)
  // The new pods have it already.
  expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
    Ready: expect.stringMatching(/^True/),
  })
  desk.keeper.finish(services, { namespace: 'ns', name: 'r-router' })
  await desk.pass(5_000)
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    Programmed: expect.stringMatching(/^True/),
  })
})

describe('a provider', () => {
  test('is reported by the routers that stay, though one that selects it is being deleted', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('leaving', {}, { finalizers: ['example.com/slow'] })
    desk.router('staying')
    await desk.pass()
    desk.remove(rpcRouters, 'leaving')
    await desk.pass()
    desk.provider('a', 'https://changed.example')
    desk.provider('b')
    await desk.pass()
    for (const [name, generation] of [
      ['a', 2],
      ['b', 1],
    ] as const) {
      expect(desk.status(upstreamProviders, name)).toMatchObject({
        observedGeneration: generation,
        routers: [{ name: 'staying' }],
      })
      expect(desk.conditions(upstreamProviders, name)['Ready']).toMatch(/^True/)
    }
  })

  test('can be of two routers; each says what it makes of it, by its name', async () => {
    await using desk = new OperatorHarness()
    const sepolia = { name: 'sepolia', port: 3361, chainId: 'SEP1', apiInterface: 'jsonrpc' }
    desk.provider('a')
    for (const name of ['one', 'two']) desk.router(name)
    await desk.pass()
    expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
    expect(desk.status(upstreamProviders, 'a')).toMatchObject({
      summary: { routers: '2/2' },
      routers: [{ name: 'one' }, { name: 'two' }],
    })
    desk.router('two', { endpoints: [sepolia] })
    await desk.pass()
    expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
      Accepted: 'True/Accepted@1: It is good.',
      Ready: expect.stringMatching(/^True/),
    })
    const message =
      'spec.chainId: the RpcRouter two has no endpoint for ETH1 jsonrpc, only for SEP1 jsonrpc.'
    const unobserved = { type: 'Healthy', status: 'Unknown' }
    expect(desk.status(upstreamProviders, 'a')['routers']).toMatchObject([
      { name: 'one', conditions: [{ status: 'True' }, { status: 'True' }, unobserved] },
      // Its pods go on as they are.
      {
        name: 'two',
        conditions: [{ reason: 'ChainNotServed', message }, { status: 'True' }, unobserved],
      },
    ])
    expect(desk.conditions(rpcRouters, 'two')['Accepted']).toBe(
      'False/NoProviders@2: spec.endpoints[sepolia]: no UpstreamProvider of the namespace ns that providerSelector selects serves SEP1 jsonrpc.',
    )
  })

  test('is written once, however late the turn of its router comes', async () => {
    await using desk = new OperatorHarness()
    desk.keeper.hold = ({ verb, plural }) =>
      verb === 'patch' && plural === 'services'
        ? sleep(desk.clock, 100_000, new AbortController().signal)
        : Promise.resolve()
    desk.provider('a')
    const names = ['r', 's', 't', 'u', 'v', 'w']
    for (const name of names) desk.router(name)
    // Two at once.
    await desk.pass(250_000)
    expect(desk.status(upstreamProviders, 'a')).toEqual({})
    await desk.pass(60_000)
    expect(desk.status(upstreamProviders, 'a')['routers']).toHaveLength(names.length)
    const writes = desk.keeper.requests.filter(({ verb, plural }) => {
      return verb === 'patch' && plural === 'upstreamproviders'
    })
    expect(writes).toHaveLength(1)
  })

  test('is reported though the status of its router cannot be written', async () => {
    await using desk = new OperatorHarness()
    desk.keeper.refuse = ({ plural, name }) =>
      plural === 'rpcrouters' && name === 'mute' ? new ApiError('PATCH', 500, {}) : null
    desk.provider('a')
    desk.router('mute')
    await desk.pass()
    expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^True/)
  })
})

test('a router that fits the types no more keeps what its status says of the fleet', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  const before = desk.status(rpcRouters, 'r')
  desk.router('r', { endpoints: 'of another time' })
  await desk.pass()
  const { conditions: _, observedGeneration, ...rest } = desk.status(rpcRouters, 'r')
  expect(before).toMatchObject(rest)
  expect(rest).toMatchObject({ replicas: 2, selector: expect.any(String), summary: {} })
  expect(observedGeneration).toBe(2)
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    Accepted: expect.stringMatching(/^False\/InvalidSpec@2: spec.endpoints/),
    Available: expect.stringMatching(/^True\/MinimumReplicasAvailable/),
    Ready: expect.stringMatching(/^False\/NotAccepted@2/),
  })
  desk.count('r', { replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 })
  await desk.pass()
  expect(desk.status(rpcRouters, 'r')).toMatchObject({
    readyReplicas: 1,
    summary: { replicas: '1/2' },
  })
})

test('no Redis is run for a router that would be refused with it', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  const redis = { topology: 'cluster', addresses: ['b:1', 'b:1'] }
  desk.router('r', { sharedState: { mode: 'Managed' }, cache: { type: 'Redis', redis } })
  await desk.pass()
  expect(desk.conditions(rpcRouters, 'r')['Accepted']).toMatch(/^False\/InvalidConfig/)
  expect([...desk.names(statefulSets), ...desk.names(secrets)]).toEqual([])
})

describe('a monitor of a kind that the cluster does not know', () => {
  const looks = ({ keeper }: OperatorHarness) =>
    keeper.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'podmonitors')

  test('is reported, and applied once the kind is installed', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r', { monitoring: { type: 'PodMonitor' } })
    desk.router('plain')
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toBe(
      'True/ProgrammedWithoutMonitor@1: All objects are applied but the PodMonitor: the cluster does not know this kind. It is looked for every minute.',
    )
    await desk.pass(600_000)
    expect(desk.names(podMonitors)).toEqual([])
    expect(looks(desk)).toHaveLength(11)
    desk.keeper.installed.add('podmonitors')
    await desk.pass(62_000)
    expect(desk.names(podMonitors)).toEqual(['r-router'])
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@1/)
    // It is watched from now on, and goes when it is no longer asked for.
    desk.remove(podMonitors, 'r-router')
    await desk.pass()
    expect(desk.names(podMonitors)).toEqual(['r-router'])
    desk.router('r')
    await desk.pass()
    expect(desk.names(podMonitors)).toEqual([])
    expect(looks(desk)).toHaveLength(12)
    expect(desk.failures).toEqual([])
  })

  test('is looked for again when the API server fails', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r', { monitoring: { type: 'ServiceMonitor' } })
    desk.keeper.installed.add('servicemonitors')
    desk.keeper.refuse = ({ verb, plural }) =>
      verb === 'list' && plural === 'servicemonitors' ? new ApiError('GET', 500, {}) : null
    await desk.pass(150_000)
    desk.keeper.refuse = () => null
    await desk.pass(62_000)
    expect(desk.names(serviceMonitors)).toEqual(['r-router'])
  })

  test('stops nothing when it may not be listed', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r')
    desk.keeper.refuse = ({ plural }) =>
      plural.endsWith('monitors') ? new ApiError('GET', 403, { reason: 'Forbidden' }) : null
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True/)
  })

  const forgets = ({ keeper }: OperatorHarness, status: number) => {
    keeper.installed.delete('podmonitors')
    keeper.refuse = ({ plural }) =>
      plural === 'podmonitors'
        ? new ApiError('PATCH podmonitors', status, { message: '404 page not found' })
        : null
  }

  test.each([
    ['is removed', 404],
    ['is about to be removed', 405],
  ])('any more, since it %s, keeps nothing else from being done', async (_, status) => {
    await using desk = new OperatorHarness()
    desk.keeper.installed.add('podmonitors')
    desk.provider('a')
    desk.router('r', { monitoring: { type: 'PodMonitor' } })
    await desk.pass(62_000)
    desk.rollOut('r')
    await desk.pass()
    expect(desk.names(podMonitors)).toEqual(['r-router'])
    forgets(desk, status)
    desk.remove(podMonitors, 'r-router')
    await desk.pass()
    const without = /^True\/ProgrammedWithoutMonitor/
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: expect.stringMatching(without),
      Ready: expect.stringMatching(/^True/),
    })
    // Objects that are no longer wanted are deleted all the same, and the status of providers is true.
    desk.provider('b')
    desk.router('r', { monitoring: { type: 'PodMonitor' }, networkPolicy: { enabled: false } })
    await desk.pass()
    expect(desk.names(networkPolicies)).toEqual([])
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(without)
    expect(desk.conditions(upstreamProviders, 'b')['Ready']).toMatch(/^True/)
    await desk.pass(200_000)
    expect(desk.failures).toEqual([])
    expect(desk.events).not.toContain('ApplyFailed')
    desk.keeper.refuse = () => null
    desk.keeper.installed.add('podmonitors')
    await desk.pass(62_000)
    expect(desk.names(podMonitors)).toEqual(['r-router'])
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@/)
  })
})

const left = { reason: 'NamespaceTerminating' }

test.each([
  ['being deleted', 403, { reason: 'Forbidden', details: { causes: [left] } }],
  ['gone', 404, { reason: 'NotFound', details: { kind: 'namespaces' } }],
])(
  'writes that are refused since their namespace is %s are no failure',
  async (_, status, body) => {
    await using desk = new OperatorHarness()
    desk.keeper.refuse = ({ verb }) =>
      verb === 'patch' ? new ApiError('PATCH configmaps', status, body) : null
    desk.provider('a')
    desk.router('r')
    await desk.pass(600_000)
    expect(desk.failures).toEqual([])
  },
)
