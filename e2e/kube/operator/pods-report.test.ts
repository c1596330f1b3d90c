// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Page, readPage } from '../../../operator/kube/page.ts'
import { deployments, rpcRouters } from '../../../operator/resources/kinds.ts'
import { statusPath } from '../../../operator/status/fleet-view.ts'
import { systemClock } from '../../../operator/kube/clock.ts'
import { eventually } from '../../processes/eventually.ts'
import { freePort } from '../../processes/free-ports.ts'
import { routerConfig } from '../../processes/router-config.ts'
import { type Program, startProgram } from '../../program/program.ts'
import { createWorkspace, legOf, type Workspace } from '../../program/workspace.ts'
import { createChainModel } from '../../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../../upstream-sim/sim-node.ts'
import { hastyClock } from '../in-process-operator.ts'
import { type Pod, pods } from '../resources.ts'
import { useOperatedFleet } from './operated-fleet.ts'

/*
 * Objects and pods are on a real API server. A pod's status page is that of a router that runs as a
 * process of this machine, or a written one.
 */

type Answer = (pod: Pod, signal: AbortSignal) => Promise<Page>
const answers = new Map<string, Answer>()
const readPodPage = async (ip: string, signal: AbortSignal): Promise<Page> => {
  const pod = (await fleet.list(pods)).find(({ status }) => status?.podIP === ip)
  const router = pod?.metadata.labels?.['app.kubernetes.io/instance'] ?? ''
  return pod
    ? (answers.get(router)?.(pod, signal) ?? { problem: 'no page' })
    : { problem: 'no pod' }
}
const { fleet, kubelet } = useOperatedFleet({}, () => 'ready', {
  clock: hastyClock(10),
  readPodPage,
})

const workspaces: Workspace[] = []
const programs: Program[] = []
const nodes: SimNode[] = []
let redis: Server
let redisPort = 0

beforeAll(async () => {
  nodes.push(
    await startSimNode({ chain: createChainModel(), name: 'sick-eth' }),
    await startSimNode({ chain: createChainModel({ chainId: 5 }), name: 'sick-hoodi' }),
  )
  redisPort = await freePort()
  const refusal = '-WRONGPASS invalid username-password pair or user is disabled.\r\n'
  redis = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const _ of data.toString().matchAll(/\*\d+\r\n/g)) socket.write(refusal)
    })
  })
  await new Promise<void>((resolve) => void redis.listen(redisPort, '127.0.0.1', resolve))
})
afterAll(async () => {
  for (const each of [...programs, ...workspaces]) await each[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  redis.close()
})

/** Lets the pods of a router answer as this router does. */
async function runRouter(name: string, config: object): Promise<void> {
  const workspace = await createWorkspace()
  workspaces.push(workspace)
  const program = await startProgram(workspace, { 'skip-websocket-verification': true, ...config })
  programs.push(program)
  const port = Number(new URL(program.adminUrl).port)
  const at = { host: '127.0.0.1', port, path: statusPath }
  answers.set(name, (_, signal) => readPage(at, systemClock, signal))
}

const endpoint = (name: string, port: number, chainId: string) => {
  return { name, port, chainId, apiInterface: 'jsonrpc' }
}
const endpoints = [endpoint('eth', 3360, 'ETH1'), endpoint('hoodi', 3361, 'HOODI')]

test('a dark listener, and a Redis that refuses the password, in the words of the pods', async () => {
  const [eth, hoodi] = nodes as [SimNode, SimNode]
  await runRouter('sick', routerConfig([legOf('ETH1', [eth]), legOf('HOODI', [hoodi])]))
  await fleet.provider('sick', 'sick-eth')
  await fleet.provider('sick', 'sick-hoodi', { chainId: 'HOODI' })
  await fleet.router('sick', { endpoints })
  const available = await fleet.routerIs('sick', 'Available', 'ListenersDark')
  expect(available.message).toMatch(
    /No upstream of the listener hoodi serves: sick-hoodi: http:.* is not used: chain-id: expected/,
  )
  const { status } = await fleet.get(rpcRouters, 'sick')
  expect(status?.summary).toMatchObject({ serving: '1/2' })
  expect(status?.listeners).toMatchObject([
    { name: 'eth', serving: '1/1' },
    { name: 'hoodi', serving: '0/1', message: expect.stringMatching(/^sick-hoodi: .*chain-id/) },
  ])
  const healthy = await fleet.providerIs('sick-hoodi', 'Healthy', 'Rejected')
  expect(healthy.message).toMatch(/chain-id: expected/)

  const store = { addresses: [`127.0.0.1:${redisPort}`], password: 'wrong' }
  await runRouter('sick', {
    ...routerConfig([legOf('ETH1', [eth])]),
    ...{ 'resp-cache': store, 'shared-state': true },
  })
  const lost = await fleet.routerIs('sick', 'Available', 'RedisUnavailable')
  expect(lost.message).toContain('until it is, calls with a session id fail')
  expect(lost.message).toContain('it refuses the user name or the password')
})

test('the only provider is unreachable: Available says so, and why', async () => {
  kubelet.decide(({ metadata }) => (metadata.name.startsWith('gone-') ? 'failing' : 'ready'))
  const url = `http://127.0.0.1:${await freePort()}`
  await runRouter('gone', routerConfig([legOf('ETH1', [{ name: 'gone-a', url }])]))
  await fleet.provider('gone', 'gone-a')
  await fleet.router('gone', { replicas: 1 })
  await eventually(async () => {
    const { message } = await fleet.routerIs('gone', 'Available', 'MinimumReplicasUnavailable')
    expect(message).toMatch(/^0 of 1 pod is available.* listener eth1 serves: gone-a: .*refused/)
  })
  await fleet.providerIs('gone-a', 'Ready', 'NotHealthy')
})

test('a rollout whose new pods cannot reach a chain stops, and continues when they can', async () => {
  let oldest = ''
  let isCured = false
  answers.set('roll', async (pod) => {
    const template = pod.metadata.labels?.['pod-template-hash'] ?? ''
    oldest ||= template
    const isDark = template !== oldest && !isCured
    const [at, darkSince] = [40, 0].map((second) => new Date(second * 1_000).toISOString())
    const [serving, why] = isDark ? [0, 'roll-b: http-unauthorized (HTTP 401)'] : [1, null]
    const served = { interface: 'jsonrpc', serving: 1, total: 1, darkSince: null, why: null }
    const hoodi = { ...served, chain: 'HOODI', serving, why, darkSince: isDark ? darkSince : null }
    const listeners = [{ ...served, chain: 'ETH1' }, hoodi]
    const config = { sha256: 'ab'.repeat(32) }
    return { text: JSON.stringify({ at, config, listeners, upstreams: [] }) }
  })
  kubelet.decide((pod) => {
    const isNew = ![undefined, oldest].includes(pod.metadata.labels?.['pod-template-hash'])
    return pod.metadata.name.startsWith('roll-') && oldest !== '' && isNew ? 'failing' : 'ready'
  })
  await fleet.provider('roll', 'roll-a')
  await fleet.provider('roll', 'roll-b', { chainId: 'HOODI' })
  await fleet.router('roll', { endpoints })
  await fleet.routerIs('roll', 'Progressing', 'RolloutComplete')
  await eventually(() => expect(oldest).not.toBe(''))
  const isPaused = async () => (await fleet.get(deployments, 'roll-router')).spec.paused === true

  await fleet.patch(rpcRouters, 'roll', { spec: { pod: { labels: { version: 'two' } } } })
  const stopped = await fleet.routerIs('roll', 'Progressing', 'RolloutStopped')
  expect(stopped.message).toMatch(
    /^Pod roll-router-.* cannot reach HOODI jsonrpc: roll-b: http-unauthorized \(HTTP 401\)\./,
  )
  expect(await isPaused()).toBe(true)
  // The new pod becomes ready after its grace time, and no old pod ends.
  kubelet.decide((pod) => (pod.metadata.labels?.['version'] === 'three' ? 'failing' : 'ready'))
  await eventually(async () => {
    const { status } = await fleet.get(deployments, 'roll-router')
    expect(status).toMatchObject({ readyReplicas: 3, updatedReplicas: 1 })
  })
  await fleet.routerIs('roll', 'Progressing', 'RolloutStopped')

  // Another template is another rollout, which stops for the same reason.
  await fleet.patch(rpcRouters, 'roll', { spec: { pod: { labels: { version: 'three' } } } })
  await eventually(async () => {
    const { spec, status } = await fleet.get(deployments, 'roll-router')
    expect(spec.template.metadata?.labels).toMatchObject({ version: 'three' })
    expect([spec.paused, status?.updatedReplicas]).toEqual([true, 1])
  })
  await fleet.routerIs('roll', 'Progressing', 'RolloutStopped')
  isCured = true
  kubelet.decide(() => 'ready')
  await fleet.routerIs('roll', 'Progressing', 'RolloutComplete')
  expect(await isPaused()).toBe(false)
})
