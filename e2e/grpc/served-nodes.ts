// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { serveRouter, type ServedRouterOptions, uncached } from '../served/served-router.ts'
import { EchoClient } from './echo-client.ts'
import { RawNode, type Manner } from './raw-node.ts'

const specSources = ['echo.yml', 'tall.yml'].map((name) => new URL(name, import.meta.url).pathname)

interface ServedChain extends Pick<ServedRouterOptions, 'observers'> {
  readonly chainId: string
  readonly urlSettings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly endpoint?: Readonly<Record<string, unknown>>
}

/** A router in front of nodes with these behaviours, in the order of selection. */
export async function served(
  manners: readonly Manner[],
  settings: Record<string, unknown> = {},
  chain?: ServedChain,
) {
  const stack = new AsyncDisposableStack()
  const nodes: RawNode[] = []
  for (const manner of manners) nodes.push(stack.use(await new RawNode(manner).start()))
  return behindRouter(stack, nodes, settings, chain)
}

/** A router in front of running nodes, and its client. All of them end with `stack`. */
export async function behindRouter<Node extends { readonly port: number }>(
  stack: AsyncDisposableStack,
  nodes: readonly Node[],
  settings: Record<string, unknown>,
  chain: ServedChain = { chainId: 'ECHO' },
) {
  const router = stack.use(
    await serveRouter({
      ...chain,
      apiInterface: 'grpc',
      specSources,
      primaries: nodes.map(({ port }, at) => ({
        name: `node-${at}`,
        url: `grpc://127.0.0.1:${port}`,
      })),
      settings: { ...uncached, ...settings },
    }),
  )
  const client = stack.use(new EchoClient(router.port))
  return { nodes, router, client, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
