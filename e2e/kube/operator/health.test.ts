// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPage } from '../../../operator/kube/page.ts'
import { upstreamProviders } from '../../../operator/resources/kinds.ts'
import { statusPath } from '../../../operator/status/fleet-view.ts'
import { eventually } from '../../processes/eventually.ts'
import { type Program, startProgram } from '../../program/program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from '../../program/workspace.ts'
import { createChainModel } from '../../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../../upstream-sim/sim-node.ts'
import { systemClock } from '../../../operator/kube/clock.ts'
import { hastyClock } from '../in-process-operator.ts'
import { pods } from '../resources.ts'
import { useOperatedFleet } from './operated-fleet.ts'

/*
 * Objects and pods are on a real API server. Behind the IP address of each pod a router runs as a
 * process of this machine, on a different port, which no other test uses.
 */

interface StatusPage {
  readonly upstreams: readonly { readonly state: string }[]
}

const ports = new Map<string, number>()
const { fleet } = useOperatedFleet({}, () => 'ready', {
  clock: hastyClock(10),
  readPodPage: (ip, signal) =>
    readPage(
      { host: '127.0.0.1', port: ports.get(ip) ?? 1, path: statusPath },
      systemClock,
      signal,
    ),
})

const chain = createChainModel()
const workspaces: Workspace[] = []
const programs: Program[] = []
let nodes: SimNode[] = []

beforeAll(async () => {
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
})
afterAll(async () => {
  for (const each of [...programs, ...workspaces]) await each[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
})

/** Gives each pod an address with a router. */
async function runRouters(): Promise<void> {
  const running = await eventually(async () => {
    const all = await fleet.list(pods)
    expect(all).toHaveLength(2)
    return all
  })
  for (const [index, { metadata }] of running.entries()) {
    const podIP = `10.77.0.${index + 1}`
    const workspace = await createWorkspace()
    workspaces.push(workspace)
    const router = await startProgram(workspace, ethereumConfig(nodes))
    programs.push(router)
    // A router serves as soon as it has verified one node, and this test stops the other.
    await eventually(async () => {
      const { upstreams } = (await (await fetch(`${router.adminUrl}/status`)).json()) as StatusPage
      expect(upstreams.map(({ state }) => state)).toEqual(['eligible', 'eligible'])
    })
    ports.set(podIP, Number(new URL(router.adminUrl).port))
    const ref = { namespace: fleet.namespace, name: metadata.name }
    const patch = { status: { podIP, podIPs: [{ ip: podIP }] } }
    await fleet.client.mergePatch(pods, ref, patch, fleet.signal, 'status')
  }
}

async function conditionsOf(provider: string): Promise<Readonly<Record<string, string>>> {
  const { status } = await fleet.get(upstreamProviders, provider)
  const all = status?.conditions ?? []
  return Object.fromEntries(all.map(({ type, reason }) => [type, reason]))
}

test('problems of a node appear in the status of its provider, and disappear', async () => {
  await fleet.provider('r', 'a')
  await fleet.provider('r', 'b')
  await fleet.router('r')
  await runRouters()
  await eventually(async () => {
    expect(await conditionsOf('a')).toMatchObject({ Ready: 'Ready', Healthy: 'Serving' })
    expect(await conditionsOf('b')).toMatchObject({ Ready: 'Ready', Healthy: 'Serving' })
  })
  await nodes[1]?.stop()
  await eventually(async () => {
    // Only b may serve these calls, since a free selection may not use b for minutes.
    const headers = { 'content-type': 'application/json', 'rpc-providers-block': 'a' }
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}'
    for (const { urls } of programs) await fetch(urls[0] ?? '', { method: 'POST', headers, body })
    expect(await conditionsOf('b')).toMatchObject({ Ready: 'NotHealthy', Healthy: 'Disabled' })
  })
  const { status } = await fleet.get(upstreamProviders, 'b')
  const [router] = status?.routers ?? []
  expect(router?.conditions?.find(({ type }) => type === 'Healthy')?.message).toMatch(
    /^Too many consecutive failures: .* Since 20\d\d-.*Z\.$/,
  )
  expect(await conditionsOf('a')).toMatchObject({ Healthy: 'Serving' })
  await programs[0]?.[Symbol.asyncDispose]()
  await programs[1]?.[Symbol.asyncDispose]()
  await eventually(async () => {
    expect(await conditionsOf('a')).toMatchObject({ Ready: 'Ready', Healthy: 'NotObserved' })
  })
})
