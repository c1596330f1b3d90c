// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { serveRouter } from '../served/served-router.ts'
import { type ChainModel, createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'

/** The state of the first of the three nodes. */
export const firstNodes = ['well', 'down', 'cutting its answers'] as const
export type FirstNode = (typeof firstNodes)[number]

/** Three nodes of one chain behind the router. */
export interface RoutedChain extends AsyncDisposable {
  readonly url: string
  readonly chain: ChainModel
  readonly nodes: readonly SimNode[]
}

export async function routeChain(firstNode: FirstNode): Promise<RoutedChain> {
  const stack = new AsyncDisposableStack()
  const chain = createChainModel()
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  const { url } = stack.use(await serveRouter({ primaries: nodes }))
  const [first, ...others] = nodes
  if (firstNode === 'down') await first?.stop()
  if (firstNode === 'cutting its answers')
    first?.faults.add({ kind: 'half-body', framing: 'chunked' })
  return {
    url,
    chain,
    nodes: firstNode === 'well' ? nodes : others,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
