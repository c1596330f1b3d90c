// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { waitUntil } from '../../processes/eventually.ts'
import { type Program, startProgram } from '../../program/program.ts'
import { createWorkspace } from '../../program/workspace.ts'
import { type Leg, type NodeUrl, routerConfig } from '../../processes/router-config.ts'
import type { Ground } from './ground.ts'

const readyTimeoutMs = 60_000

/** The router program in front of real nodes. */
export interface Routed {
  readonly program: Program
  /** URLs of the listeners in the order of the legs: `http://HOST:PORT`. */
  readonly urls: readonly string[]
}

/** Starts the router with these legs and settings, and waits until all chains serve. */
export async function routeTo(
  ground: Ground,
  legs: readonly Leg[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Routed> {
  const workspace = ground.stack.use(await createWorkspace())
  const config = { ...routerConfig(legs), 'skip-websocket-verification': true, ...settings }
  const program = ground.stack.use(await startProgram(workspace, config))
  await waitUntil('every chain is served', readyTimeoutMs, ground.signal, async () => {
    const response = await fetch(`${program.adminUrl}/readyz`)
    const words = await response.text()
    if (!response.ok || /dark/.test(words)) throw new Error(`${words}\n${program.stdout}`)
    return true
  })
  return { program, urls: program.urls }
}

/** Starts a router for a JSON-RPC chain with one node. Returns the URL of the listener. */
export async function routeJsonRpc(
  ground: Ground,
  chainId: string,
  name: string,
  url: NodeUrl,
): Promise<string> {
  const leg: Leg = { chainId, apiInterface: 'jsonrpc', nodes: [{ name, urls: [url] }] }
  const { urls } = await routeTo(ground, [leg])
  return urls[0] ?? ''
}
