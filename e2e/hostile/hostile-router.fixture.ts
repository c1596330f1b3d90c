// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import { type Child, ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { routerConfig, type Leg } from '../processes/router-config.ts'
import { waitUntil } from '../processes/eventually.ts'
import { type Footprint, footprintOf } from '../program/footprint.ts'
import { createWorkspace } from '../program/workspace.ts'
import type { RouterNode } from './nodes.fixture.ts'

const entry = fileURLToPath(new URL('../../bin/router.mjs', import.meta.url))
const nodesFile = fileURLToPath(new URL('nodes.fixture.ts', import.meta.url))
const attacksFile = fileURLToPath(new URL('attacks.fixture.ts', import.meta.url))

/** A router in a separate process, with the heap size that Node picks in a container of 512 MiB. */
export interface HostileRouter extends AsyncDisposable {
  readonly child: Child
  readonly url: string
  readonly port: number
  footprint(): Footprint
  metrics(): Promise<string>
  /** Resolves when the attacker has ended. */
  attack(names: readonly string[], seconds: number): Promise<void>
}

export async function startHostileRouter(
  upstreams: 'jsonrpc' | 'grpc' | readonly RouterNode[],
  chain: Pick<Leg, 'chainId' | 'apiInterface'> = { chainId: 'ETH1', apiInterface: 'jsonrpc' },
  settings: Readonly<Record<string, unknown>> = {},
): Promise<HostileRouter> {
  const stack = new AsyncDisposableStack()
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const nodes = typeof upstreams === 'string' ? await startNodes(children, upstreams) : upstreams
  const [port = 0, adminPort = 0] = await freePorts(2)
  const url = `http://127.0.0.1:${port}`
  const config = await workspace.write('router.yml', {
    ...routerConfig([{ ...chain, port, nodes }]),
    ...settings,
    'metrics-listen-address': `127.0.0.1:${adminPort}`,
  })
  const child = await children.start({
    ...{ name: 'router', command: 'env' },
    args: ['NODE_OPTIONS=--max-old-space-size=256', entry, config],
  })
  const adminUrl = `http://127.0.0.1:${adminPort}`
  await waitUntil('the router is healthy', 60_000, undefined, async () => {
    if (!child.alive) throw new Error(child.tail())
    return (await fetch(`${adminUrl}/metrics/overall-health`)).ok
  })
  return {
    ...{ child, url, port },
    footprint: () => footprintOf(child.pid),
    metrics: async () => (await fetch(`${adminUrl}/metrics`)).text(),
    async attack(names, seconds) {
      const attacker = await children.start({
        ...{ name: 'attacker', command: process.execPath },
        args: [attacksFile, String(port), String(seconds), ...names],
      })
      if ((await attacker.ended) !== 0) throw new Error(attacker.tail())
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function startNodes(
  children: ChildProcesses,
  kind: 'jsonrpc' | 'grpc',
): Promise<readonly RouterNode[]> {
  if (kind === 'grpc')
    return [
      ...(await startNodesOf(children, 'grpc')),
      ...(await startNodesOf(children, 'odd-grpc')),
    ]
  const honest = await startNodesOf(children, 'honest')
  return [...honest, ...(await startNodesOf(children, 'odd', honest[0]?.urls[0]?.url))]
}

async function startNodesOf(
  children: ChildProcesses,
  kind: string,
  ...of: (string | undefined)[]
): Promise<readonly RouterNode[]> {
  const args = [nodesFile, kind, ...of.filter((each) => each !== undefined)]
  const child = await children.start({ name: kind, command: process.execPath, args })
  await waitUntil('the nodes are there', 60_000, undefined, () => child.tail().includes('\n'))
  return JSON.parse(child.tail()) as readonly RouterNode[]
}
