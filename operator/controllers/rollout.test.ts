// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  configMaps,
  deployments,
  networkPolicies,
  pods,
  replicaSets,
  rpcRouters,
  secrets,
  statefulSets,
  upstreamProviders,
} from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

test('a router gets its objects and becomes Ready with its pods', async () => {
  await using harness = await OperatorHarness.serving()
  expect(harness.failures).toEqual([])
  expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
    Ready: expect.stringMatching(/^True/),
  })
  expect(harness.conditions(upstreamProviders, 'a')).toMatchObject({
    Ready: expect.stringMatching(/^True/),
  })
})

test('foreign objects that a router owns stay unchanged', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  const { kind, apiVersion, metadata } = harness.get(rpcRouters, 'r')
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }
  const theirs = {
    namespace: 'ns',
    name: 'mine',
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
  }
  harness.api.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: theirs })
  harness.api.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: theirs })
  // Objects of another instance with our labels are not touched either.
  const labels = harness.get(networkPolicies, 'r-router').metadata.labels ?? {}
  const others = { ...labels, 'app.kubernetes.io/instance': 'other' }
  const metadataOfOther = { ...theirs, name: 'of-other', labels: others }
  harness.api.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOfOther })
  harness.router('r', { replicas: 3, networkPolicy: { enabled: false } })
  await harness.pass()
  expect(harness.names(networkPolicies)).toEqual([])
  expect(harness.names(configMaps)).toEqual(expect.arrayContaining(['mine', 'of-other']))
  expect(harness.names(secrets)).toEqual(['mine'])
  expect(harness.failures).toEqual([])
  expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@2/)
})

describe('in a rollout', () => {
  const full = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 }
  const is = (text: string) => expect.stringMatching(new RegExp(`^${text}@`))

  test('Available means that pods serve, and Ready that this generation serves', async () => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 3 }, pods: 3 })
    harness.provider('a', 'https://another.example:8443')
    await harness.pass()
    // The Deployment controller has not observed the change yet.
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: is('True/Programmed'),
      Available: is('True/MinimumReplicasAvailable'),
      Progressing: is('True/RolloutInProgress'),
      Ready: is('False/NotRolledOut'),
    })
    // There is one new pod next to all the old ones, and it is not ready.
    harness.count('r', { ...full, replicas: 4, updatedReplicas: 1 }, 'ReplicaSetUpdated')
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Available: is('True/MinimumReplicasAvailable'),
      Ready:
        'False/NotRolledOut@1: Older pods serve. 1 of 3 pods have the newest revision, 3 are available.',
    })
    harness.count('r', { ...full, replicas: 4, availableReplicas: 3 }, 'ReplicaSetUpdated')
    await harness.pass()
    // At worst, the unavailable pod is a new one: two of three suffice.
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({ Ready: is('True/Ready') })
    harness.count('r', full)
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Progressing: is('False/RolloutComplete'),
      Ready: is('True/Ready'),
    })
    // The second RolloutComplete increments the count of the first Event.
    expect(harness.events).toEqual(['ConfigRendered', 'RolloutComplete', 'ConfigRendered'])
  })

  test('that stalls, older pods serve', async () => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 3 }, pods: 3 })
    harness.provider('a', 'https://another.example:8443')
    await harness.pass()
    harness.count('r', { ...full, replicas: 4, updatedReplicas: 1 }, 'ProgressDeadlineExceeded')
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Available: is('True/MinimumReplicasAvailable'),
      Progressing: is('False/RolloutStalled'),
      Ready: is('False/NotRolledOut'),
    })
  })

  test.each([
    ['a pod that fails and comes back', { readyReplicas: 2, availableReplicas: 2 }],
    ['an autoscaler that adds pods', { replicas: 5, updatedReplicas: 5 }],
  ])('no status changes for %s', async (_, counts) => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 3 }, pods: 3 })
    const before = harness.events
    harness.count('r', { ...full, ...counts })
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Progressing: is('False/RolloutComplete'),
      Ready: is('True/Ready'),
    })
    harness.count('r', full)
    await harness.pass()
    expect(harness.events).toEqual(before)
  })

  test('no status changes for another replica count, and Ready does not flap', async () => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 3 }, pods: 3 })
    const before = harness.events
    harness.router('r', { replicas: 4 })
    await harness.pass()
    const unobserved = harness.conditions(rpcRouters, 'r')
    harness.count('r', { ...full, replicas: 4, updatedReplicas: 4 })
    await harness.pass()
    for (const conditions of [unobserved, harness.conditions(rpcRouters, 'r')])
      expect(conditions).toMatchObject({
        Progressing: is('False/RolloutComplete'),
        Ready: is('True/Ready'),
      })
    expect(harness.events).toEqual(before)
  })

  test('pods that Kubernetes fails to create are reported with its message', async () => {
    await using harness = await OperatorHarness.serving({ spec: { replicas: 3 }, pods: 3 })
    harness.count('r', full, 'NewReplicaSetAvailable', [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' },
    ])
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
      Progressing: 'False/ReplicaFailure@1: Kubernetes does not create a pod: exceeded quota.',
    })
    expect(harness.events.at(-1)).toBe('ReplicaFailure')
  })
})

describe('old pods keep', () => {
  const tcp = (rules: readonly { ports?: readonly { port?: unknown; protocol?: string }[] }[]) =>
    rules.flatMap(({ ports = [] }) =>
      ports.map(({ port, protocol }) => `${protocol} ${String(port)}`),
    )

  async function rollingHarness() {
    const harness = new OperatorHarness()
    harness.provider('a', 'http://old.example:8545')
    harness.router('r', { pod: { rollout: { revisionHistoryLimit: 1 } } })
    await harness.pass()
    harness.rollOut('r')
    await harness.pass()
    return harness
  }

  test('their ports, until their config is gone', async () => {
    await using harness = await rollingHarness()
    const policy = () => harness.get(networkPolicies, 'r-router').spec
    expect(tcp(policy().egress)).toContain('TCP 8545')
    const [old = ''] = harness.names(replicaSets)
    harness.provider('a', 'http://new.example:9545')
    harness.router('r', {
      endpoints: [{ name: 'eth1', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }],
      pod: { rollout: { revisionHistoryLimit: 1 } },
    })
    await harness.pass()
    expect(tcp(policy().egress)).toEqual([
      'UDP 53',
      'TCP 53',
      'UDP 5353',
      'TCP 5353',
      'TCP 8545',
      'TCP 9545',
    ])
    expect(tcp(policy().ingress)).toEqual(['TCP 3361', 'TCP 3360', 'TCP 7779'])
    // The rollout can be undone as long as the ReplicaSet exists.
    harness.rollOut('r')
    await harness.pass()
    expect(tcp(policy().egress)).toContain('TCP 8545')
    harness.remove(replicaSets, old)
    await harness.pass()
    expect(tcp(policy().egress)).toEqual(['UDP 53', 'TCP 53', 'UDP 5353', 'TCP 5353', 'TCP 9545'])
    expect(tcp(policy().ingress)).toEqual(['TCP 3361', 'TCP 7779'])
    expect(harness.names(configMaps)).toHaveLength(1)
  })

  test('their config, even if the watch of ReplicaSets is silent', async () => {
    await using harness = new OperatorHarness()
    harness.api.deaf.add('replicasets')
    harness.provider('a', 'https://first.example')
    harness.router('r')
    await harness.pass()
    for (const url of ['https://second.example:2', 'https://third.example:3']) {
      harness.rollOut('r')
      harness.provider('a', url)
      await harness.pass()
    }
    expect(harness.names(configMaps)).toHaveLength(3)
    const [oldest = ''] = harness.names(replicaSets)
    harness.rollOut('r')
    harness.remove(replicaSets, oldest)
    await harness.pass()
    expect(harness.names(configMaps)).toHaveLength(2)
  })

  test('their config: ReplicaSets are listed only before a config is deleted', async () => {
    await using harness = await rollingHarness()
    const lists = () =>
      harness.api.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'replicasets')
    const before = lists().length
    for (let port = 1; port < 4; port++) {
      harness.provider('a', `http://old.example:${port}`)
      await harness.pass()
      harness.rollOut('r')
      await harness.pass()
    }
    expect(lists()).toHaveLength(before)
    harness.remove(replicaSets, harness.names(replicaSets)[0] ?? '')
    await harness.pass()
    expect(lists()).toHaveLength(before + 1)
  })
})

test('the status of a stalled rollout says why its newest pod is not ready', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r')
  await harness.pass()
  const { labels } = harness.get(deployments, 'r-router').spec.template.metadata ?? {}
  const message = '{"level":"fatal","msg":"specs: no such chain"}'
  const containerStatuses = [
    {
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 2, message } },
    },
  ]
  const pod = { namespace: 'ns', name: 'r-router-1', labels }
  harness.api.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata: pod })
  harness.api.putStatus(pods, pod, { containerStatuses })
  harness.count('r', { replicas: 2, updatedReplicas: 2 }, 'ProgressDeadlineExceeded')
  await harness.pass()
  const { Progressing = '' } = harness.conditions(rpcRouters, 'r')
  expect(Progressing).toMatch(/^False\/RolloutStalled@1/)
  expect(Progressing).toContain(
    `Pod r-router-1: CrashLoopBackOff, its container exited with code 2: ${message}`,
  )
})

test('the status says at once why pods do not start: first pods, further pods and Redis', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r', { sharedState: { mode: 'Managed', managed: {} } })
  await harness.pass()
  const put = (name: string, component: string, status: object) => {
    const labels = {
      ...harness.get(deployments, 'r-router').spec.template.metadata?.labels,
      'app.kubernetes.io/component': component,
    }
    const metadata = { namespace: 'ns', name, labels }
    harness.api.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    harness.api.putStatus(pods, metadata, status)
  }
  const waiting = (reason: string) => ({ containerStatuses: [{ state: { waiting: { reason } } }] })
  const conditions = () => harness.conditions(rpcRouters, 'r')
  harness.api.putStatus(
    statefulSets,
    { namespace: 'ns', name: 'r-redis' },
    { availableReplicas: 1 },
  )
  put('r-router-1', 'router', waiting('ContainerCreating'))
  harness.count('r', { replicas: 2, updatedReplicas: 2 }, 'ReplicaSetUpdated')
  await harness.pass()
  expect(conditions()['Progressing']).not.toContain('r-router-1')
  // Only the pod changes.
  put('r-router-1', 'router', waiting('ErrImagePull'))
  await harness.pass(10_000)
  for (const type of ['Available', 'Progressing', 'Ready'])
    expect(conditions()[type]).toContain('Pod r-router-1: ErrImagePull.')
  harness.count('r', { replicas: 2, updatedReplicas: 2 }, 'ProgressDeadlineExceeded')
  await harness.pass()
  expect(conditions()['Progressing']).not.toContain('old pods')

  harness.router('r', { sharedState: { mode: 'Managed', managed: {} }, replicas: 5 })
  await harness.pass()
  const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
  put('r-router-1', 'router', { conditions: [unschedulable] })
  const most = { updatedReplicas: 5, readyReplicas: 4, availableReplicas: 4 }
  harness.count('r', { replicas: 5, ...most })
  await harness.pass()
  expect(conditions()['Available']).toMatch(
    /^True\/\S+ 4 of 5 pods are available\. Pod r-router-1: Unschedulable\.$/,
  )

  put('r-router-1', 'router', { conditions: [{ type: 'Ready', status: 'True' }] })
  harness.count('r', { replicas: 5, ...most, availableReplicas: 5 })
  put('r-redis-0', 'redis', waiting('ImagePullBackOff'))
  harness.api.putStatus(statefulSets, { namespace: 'ns', name: 'r-redis' }, {})
  await harness.pass()
  expect(conditions()).toMatchObject({
    Available: expect.stringMatching(
      /^False\/RedisUnavailable\S+ 5 of 5 pods are available\. .* fail\. Pod r-redis-0: ImagePullBackOff\.$/,
    ) as string,
    Ready: expect.stringMatching(/^False\/NotAvailable/) as string,
  })
  harness.api.putStatus(
    statefulSets,
    { namespace: 'ns', name: 'r-redis' },
    { availableReplicas: 1 },
  )
  await harness.pass()
  expect(conditions()['Ready']).toMatch(/^True/)
  const before = harness.reconciled.length
  await harness.pass(300_000)
  expect(harness.reconciled.length, 'healthy pods are not checked').toBe(before)
})

test('a missing Redis for answers makes no condition False', async () => {
  await using harness = new OperatorHarness()
  harness.provider('a')
  harness.router('r', { cache: { type: 'Managed' } })
  await harness.pass()
  harness.rollOut('r')
  await harness.pass()
  expect(harness.conditions(rpcRouters, 'r')).toMatchObject({
    Available: expect.stringMatching(
      /^True.* The store of cached answers is not available/,
    ) as string,
    Ready: expect.stringMatching(/^True/) as string,
  })
})

describe('the columns count', () => {
  const summary = (harness: OperatorHarness) => harness.status(rpcRouters, 'r')['summary']

  test('open listeners', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    const of = (name: string, port: number, chainId: string) => ({
      ...{ name, port, chainId },
      apiInterface: 'jsonrpc',
    })
    harness.router('r', { endpoints: [of('eth', 3360, 'ETH1'), of('sep', 3361, 'SEP1')] })
    await harness.pass()
    expect(summary(harness)).toMatchObject({ listeners: 0 })
    harness.rollOut('r')
    await harness.pass()
    expect(summary(harness)).toMatchObject({ listeners: 1, providers: '1/1' })
  })

  test('no provider of a router that is refused and never ran', async () => {
    await using harness = new OperatorHarness()
    harness.provider('a')
    const own = { type: 'ConfigMap', configMap: { name: 'none' } }
    harness.router('r', { specSources: [own] })
    await harness.pass()
    expect(summary(harness)).toMatchObject({ listeners: 0, providers: '0/1' })
  })

  test('the providers that a blocked router still uses', async () => {
    await using harness = await OperatorHarness.serving()
    harness.router('r', { specSources: [{ type: 'ConfigMap', configMap: { name: 'none' } }] })
    await harness.pass()
    expect(harness.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/NotAccepted@2/)
    expect(summary(harness)).toMatchObject({ listeners: 1, providers: '1/1' })
  })
})
