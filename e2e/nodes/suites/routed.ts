// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { waitUntil } from '../../processes/wait-until.ts'
import { type Program, startProgram } from '../../program/program.ts'
import { createWorkspace } from '../../program/workspace.ts'
import type { Ground } from './ground.ts'

const readyTimeoutMs = 20_000

/** A URL of an upstream, with its settings by their names in the file. */
export type NodeUrl = Readonly<Record<string, unknown>> & { readonly url: string }

/** One listener and the nodes behind it. */
export interface Leg {
  readonly chainId: string
  readonly apiInterface: 'jsonrpc' | 'rest' | 'tendermintrpc' | 'grpc'
  readonly nodes: readonly { readonly name: string; readonly urls: readonly NodeUrl[] }[]
}

/** The router as its users start it, in front of real nodes. */
export interface Routed {
  readonly program: Program
  /** Where the listeners are, in the order of the legs, as `http://HOST:PORT`. */
  readonly urls: readonly string[]
}

/** Starts the router for these legs, with the settings of its file, and waits until all serve. */
export async function routeTo(
  ground: Ground,
  legs: readonly Leg[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Routed> {
  const workspace = ground.stack.use(await createWorkspace())
  const config = {
    endpoints: legs.map(({ chainId, apiInterface }) => ({
      'network-address': '127.0.0.1:0',
      'chain-id': chainId,
      'api-interface': apiInterface,
    })),
    'direct-rpc': legs.flatMap(({ chainId, apiInterface, nodes }) =>
      nodes.map(({ name, urls }) => ({
        name,
        'chain-id': chainId,
        'api-interface': apiInterface,
        'node-urls': urls,
      })),
    ),
    'skip-websocket-verification': true,
    ...settings,
  }
  const program = ground.stack.use(await startProgram(workspace, config))
  await waitUntil('every chain is served', readyTimeoutMs, ground.signal, async () => {
    const response = await fetch(`${program.adminUrl}/readyz`)
    const words = await response.text()
    if (!response.ok || /dark/.test(words)) throw new Error(`${words}\n${program.stdout}`)
    return true
  })
  return { program, urls: program.urls }
}

/** A chain that has one node and speaks JSON-RPC: where the listener is. */
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
