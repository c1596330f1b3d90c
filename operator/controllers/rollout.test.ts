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

test('a router gets its objects, and is Ready when its pods are', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  expect(desk.failures).toEqual([])
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({ Ready: expect.stringMatching(/^True/) })
  expect(desk.conditions(upstreamProviders, 'a')).toMatchObject({
    Ready: expect.stringMatching(/^True/),
  })
})

test('foreign objects made to go with a router stay as they are', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  const { kind, apiVersion, metadata } = desk.get(rpcRouters, 'r')
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }
  const theirs = {
    namespace: 'ns',
    name: 'mine',
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
  }
  desk.keeper.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: theirs })
  desk.keeper.put(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: theirs })
  // What has labels of ours and is of another is not touched either.
  const labels = desk.get(networkPolicies, 'r-router').metadata.labels ?? {}
  const others = { ...labels, 'app.kubernetes.io/instance': 'other' }
  const metadataOfOther = { ...theirs, name: 'of-other', labels: others }
  desk.keeper.put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOfOther })
  desk.router('r', { replicas: 3, networkPolicy: { enabled: false } })
  await desk.pass()
  expect(desk.names(networkPolicies)).toEqual([])
  expect(desk.names(configMaps)).toEqual(expect.arrayContaining(['mine', 'of-other']))
  expect(desk.names(secrets)).toEqual(['mine'])
  expect(desk.failures).toEqual([])
  expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^True\/Programmed@2/)
})

describe('in a rollout', () => {
  async function servingDesk() {
    const desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r', { replicas: 3 })
    await desk.pass()
    desk.rollOut('r', 3)
    await desk.pass()
    return desk
  }
  const full = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 }
  const is = (text: string) => expect.stringMatching(new RegExp(`^${text}@`))

  test('Available says that something serves, Ready that this generation does', async () => {
    await using desk = await servingDesk()
    desk.provider('a', 'https://another.example:8443')
    await desk.pass()
    // The Deployment controller has not even looked.
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Programmed: is('True/Programmed'),
      Available: is('True/MinimumReplicasAvailable'),
      Progressing: is('True/RolloutInProgress'),
      Ready: is('False/NotRolledOut'),
    })
    // One new pod beside all old ones, and it is not ready.
    desk.count('r', { ...full, replicas: 4, updatedReplicas: 1 }, 'ReplicaSetUpdated')
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Available: is('True/MinimumReplicasAvailable'),
      Ready:
        'False/NotRolledOut@1: Older pods serve. 1 of 3 pods are of the newest revision, 3 are available.',
    })
    desk.count('r', { ...full, replicas: 4, availableReplicas: 3 }, 'ReplicaSetUpdated')
    await desk.pass()
    // At worst the one that is not available is new: two of three are enough.
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({ Ready: is('True/Ready') })
    desk.count('r', full)
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Progressing: is('False/RolloutComplete'),
      Ready: is('True/Ready'),
    })
    // The end of the second raises the count of the first's event.
    expect(desk.events).toEqual(['ConfigRendered', 'RolloutComplete', 'ConfigRendered'])
  })

  test('that is stuck, older pods serve', async () => {
    await using desk = await servingDesk()
    desk.provider('a', 'https://another.example:8443')
    await desk.pass()
    desk.count('r', { ...full, replicas: 4, updatedReplicas: 1 }, 'ProgressDeadlineExceeded')
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Available: is('True/MinimumReplicasAvailable'),
      Progressing: is('False/RolloutStalled'),
      Ready: is('False/NotRolledOut'),
    })
  })

  test.each([
    ['a pod that fails and comes back', { readyReplicas: 2, availableReplicas: 2 }],
    ['an autoscaler that adds pods', { replicas: 5, updatedReplicas: 5 }],
  ])('there is none for %s', async (_, counts) => {
    await using desk = await servingDesk()
    const before = desk.events
    desk.count('r', { ...full, ...counts })
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Progressing: is('False/RolloutComplete'),
      Ready: is('True/Ready'),
    })
    desk.count('r', full)
    await desk.pass()
    expect(desk.events).toEqual(before)
  })

  test('there is none for another count of pods, and Ready does not flap', async () => {
    await using desk = await servingDesk()
    const before = desk.events
    desk.router('r', { replicas: 4 })
    await desk.pass()
    const unseen = desk.conditions(rpcRouters, 'r')
    desk.count('r', { ...full, replicas: 4, updatedReplicas: 4 })
    await desk.pass()
    for (const conditions of [unseen, desk.conditions(rpcRouters, 'r')])
      expect(conditions).toMatchObject({
        Progressing: is('False/RolloutComplete'),
        Ready: is('True/Ready'),
      })
    expect(desk.events).toEqual(before)
  })

  test('pods that Kubernetes does not create are reported in its words', async () => {
    await using desk = await servingDesk()
    desk.count('r', full, 'NewReplicaSetAvailable', [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' },
    ])
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
      Progressing: 'False/ReplicaFailure@1: Kubernetes does not create a pod: exceeded quota.',
    })
    expect(desk.events.at(-1)).toBe('ReplicaFailure')
  })
})

describe('what old pods need stays', () => {
  const tcp = (rules: readonly { ports?: readonly { port?: unknown; protocol?: string }[] }[]) =>
    rules.flatMap(({ ports = [] }) =>
      ports.map(({ port, protocol }) => `${protocol} ${String(port)}`),
    )

  async function rollingDesk() {
    const desk = new OperatorHarness()
    desk.provider('a', 'http://old.example:8545')
    desk.router('r', { pod: { rollout: { revisionHistoryLimit: 1 } } })
    await desk.pass()
    desk.rollOut('r')
    await desk.pass()
    return desk
  }

  test('their ports, until their config is gone', async () => {
    await using desk = await rollingDesk()
    const policy = () => desk.get(networkPolicies, 'r-router').spec
    expect(tcp(policy().egress)).toContain('TCP 8545')
    const [old = ''] = desk.names(replicaSets)
    desk.provider('a', 'http://new.example:9545')
    desk.router('r', {
      endpoints: [{ name: 'eth1', port: 3361, chainId: 'ETH1', apiInterface: 'jsonrpc' }],
      pod: { rollout: { revisionHistoryLimit: 1 } },
    })
    await desk.pass()
    expect(tcp(policy().egress)).toEqual([
      'UDP 53',
      'TCP 53',
      'UDP 5353',
      'TCP 5353',
      'TCP 8545',
      'TCP 9545',
    ])
    expect(tcp(policy().ingress)).toEqual(['TCP 3361', 'TCP 3360', 'TCP 7779'])
    // It can be undone as long as the ReplicaSet is there.
    desk.rollOut('r')
    await desk.pass()
    expect(tcp(policy().egress)).toContain('TCP 8545')
    desk.remove(replicaSets, old)
    await desk.pass()
    expect(tcp(policy().egress)).toEqual(['UDP 53', 'TCP 53', 'UDP 5353', 'TCP 5353', 'TCP 9545'])
    expect(tcp(policy().ingress)).toEqual(['TCP 3361', 'TCP 7779'])
    expect(desk.names(configMaps)).toHaveLength(1)
  })

  test('their config, though ReplicaSets cannot be listed', async () => {
    await using desk = new OperatorHarness()
    desk.keeper.deaf.add('replicasets')
    desk.provider('a', 'https://first.example')
    desk.router('r')
    await desk.pass()
    for (const url of ['https://second.example:2', 'https://third.example:3']) {
      desk.rollOut('r')
      desk.provider('a', url)
      await desk.pass()
    }
    expect(desk.names(configMaps)).toHaveLength(3)
    const [oldest = ''] = desk.names(replicaSets)
    desk.rollOut('r')
    desk.remove(replicaSets, oldest)
    await desk.pass()
    expect(desk.names(configMaps)).toHaveLength(2)
  })

  test('ReplicaSets are listed when a config is to go, and not else', async () => {
    await using desk = await rollingDesk()
    const lists = () =>
      desk.keeper.requests.filter(({ verb, plural }) => verb === 'list' && plural === 'replicasets')
    const before = lists().length
    for (let port = 1; port < 4; port++) {
      desk.provider('a', `http://old.example:${port}`)
      await desk.pass()
      desk.rollOut('r')
      await desk.pass()
    }
    expect(lists()).toHaveLength(before)
    desk.remove(replicaSets, desk.names(replicaSets)[0] ?? '')
    await desk.pass()
    expect(lists()).toHaveLength(before + 1)
  })
})

test('a rollout that stalls says why its newest pod is not ready', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r')
  await desk.pass()
  const { labels } = desk.get(deployments, 'r-router').spec.template.metadata ?? {}
  const message = '{"level":"fatal","msg":"specs: no such chain"}'
  const containerStatuses = [
    {
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 2, message } },
    },
  ]
  const pod = { namespace: 'ns', name: 'r-router-1', labels }
  desk.keeper.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata: pod })
  desk.keeper.putStatus(pods, pod, { containerStatuses })
  desk.count('r', { replicas: 2, updatedReplicas: 2 }, 'ProgressDeadlineExceeded')
  await desk.pass()
  const { Progressing = '' } = desk.conditions(rpcRouters, 'r')
  expect(Progressing).toMatch(/^False\/RolloutStalled@1/)
  expect(Progressing).toContain(
    `Pod r-router-1: CrashLoopBackOff, its container ended with exit code 2: ${message}`,
  )
})

test('why pods do not come is said at once: of the first ones, of more, and of a Redis', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r', { sharedState: { mode: 'Managed', managed: {} } })
  await desk.pass()
  const put = (name: string, component: string, status: object) => {
    const labels = {
      ...desk.get(deployments, 'r-router').spec.template.metadata?.labels,
      'app.kubernetes.io/component': component,
    }
    const metadata = { namespace: 'ns', name, labels }
    desk.keeper.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    desk.keeper.putStatus(pods, metadata, status)
  }
  const waiting = (reason: string) => ({ containerStatuses: [{ state: { waiting: { reason } } }] })
  const conditions = () => desk.conditions(rpcRouters, 'r')
  desk.keeper.putStatus(
    statefulSets,
    { namespace: 'ns', name: 'r-redis' },
    { availableReplicas: 1 },
  )
  put('r-router-1', 'router', waiting('ContainerCreating'))
  desk.count('r', { replicas: 2, updatedReplicas: 2 }, 'ReplicaSetUpdated')
  await desk.pass()
  expect(conditions()['Progressing']).not.toContain('r-router-1')
  // Nothing changes but the pod.
  put('r-router-1', 'router', waiting('ErrImagePull'))
  await desk.pass(10_000)
  for (const type of ['Available', 'Progressing', 'Ready'])
    expect(conditions()[type]).toContain('Pod r-router-1: ErrImagePull.')
  desk.count('r', { replicas: 2, updatedReplicas: 2 }, 'ProgressDeadlineExceeded')
  await desk.pass()
  expect(conditions()['Progressing']).not.toContain('old pods')

  desk.router('r', { sharedState: { mode: 'Managed', managed: {} }, replicas: 5 })
  await desk.pass()
  const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
  put('r-router-1', 'router', { conditions: [unschedulable] })
  const most = { updatedReplicas: 5, readyReplicas: 4, availableReplicas: 4 }
  desk.count('r', { replicas: 5, ...most })
  await desk.pass()
  expect(conditions()['Available']).toMatch(
    /^True\/\S+ 4 of 5 pods are available\. Pod r-router-1: Unschedulable\.$/,
  )

  put('r-router-1', 'router', { conditions: [{ type: 'Ready', status: 'True' }] })
  desk.count('r', { replicas: 5, ...most, availableReplicas: 5 })
  put('r-redis-0', 'redis', waiting('ImagePullBackOff'))
  desk.keeper.putStatus(statefulSets, { namespace: 'ns', name: 'r-redis' }, {})
  await desk.pass()
  expect(conditions()).toMatchObject({
    Available: expect.stringMatching(
      /^False\/RedisUnavailable\S+ 5 of 5 pods are available\. .* fail .* Pod r-redis-0: ImagePullBackOff\.$/,
    ) as string,
    Ready: expect.stringMatching(/^False\/NotAvailable/) as string,
  })
  desk.keeper.putStatus(
    statefulSets,
    { namespace: 'ns', name: 'r-redis' },
    { availableReplicas: 1 },
  )
  await desk.pass()
  expect(conditions()['Ready']).toMatch(/^True/)
  const before = desk.reconciled.length
  await desk.pass(300_000)
  expect(desk.reconciled.length, 'what is well is not looked at').toBe(before)
})

test('the Redis of the answers makes nothing False: all is served without it', async () => {
  await using desk = new OperatorHarness()
  desk.provider('a')
  desk.router('r', { cache: { type: 'Managed' } })
  await desk.pass()
  desk.rollOut('r')
  await desk.pass()
  expect(desk.conditions(rpcRouters, 'r')).toMatchObject({
    Available: expect.stringMatching(/^True.* The Redis of the answers is not available/) as string,
    Ready: expect.stringMatching(/^True/) as string,
  })
})

describe('the columns', () => {
  const summary = (desk: OperatorHarness) => desk.status(rpcRouters, 'r')['summary']

  test('count the listeners that are open', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    const of = (name: string, port: number, chainId: string) => ({
      ...{ name, port, chainId },
      apiInterface: 'jsonrpc',
    })
    desk.router('r', { endpoints: [of('eth', 3360, 'ETH1'), of('sep', 3361, 'SEP1')] })
    await desk.pass()
    expect(summary(desk)).toMatchObject({ listeners: 0 })
    desk.rollOut('r')
    await desk.pass()
    expect(summary(desk)).toMatchObject({ listeners: 1, providers: '1/1' })
  })

  test('count no provider of a router that is refused and never ran', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    const own = { type: 'ConfigMap', configMap: { name: 'none' } }
    desk.router('r', { specSources: [own] })
    await desk.pass()
    expect(summary(desk)).toMatchObject({ listeners: 0, providers: '0/1' })
  })

  test('count the providers that a router which is held back goes on with', async () => {
    await using desk = new OperatorHarness()
    desk.provider('a')
    desk.router('r')
    await desk.pass()
    desk.rollOut('r')
    await desk.pass()
    desk.router('r', { specSources: [{ type: 'ConfigMap', configMap: { name: 'none' } }] })
    await desk.pass()
    expect(desk.conditions(rpcRouters, 'r')['Programmed']).toMatch(/^False\/NotAccepted@2/)
    expect(summary(desk)).toMatchObject({ listeners: 1, providers: '1/1' })
  })
})
