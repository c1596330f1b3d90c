// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainModel } from './chain-model.ts'
import { ChainView, type EthereumViewSettings } from './chain-view.ts'
import { ethereumMethods } from './ethereum-methods.ts'
import type { FaultSwitch } from './faults.ts'
import { toQuantity } from './hex.ts'
import { RpcError } from './json-rpc.ts'
import { isOfTopic, type NodeEvent, NodeEvents, resultOf } from './node-events.ts'
import { type Method, RpcNode } from './rpc-node.ts'
import { type ServedNode, type ServeOptions, serveNode } from './served-node.ts'
import type { SocketFeed } from './socket-face.ts'

export interface EthereumNodeOptions extends Partial<EthereumViewSettings> {
  readonly chain: ChainModel
  readonly faults: FaultSwitch
  /** Methods such as `debug_traceCall` that extend or replace the standard methods. */
  readonly methods?: Readonly<Record<string, Method<ChainView>>>
}

/** An Ethereum node without its transport, which a simulation can call directly. */
export class EthereumNode extends RpcNode<ChainView> {
  constructor({ chain, faults, methods = {}, ...settings }: EthereumNodeOptions) {
    const view = new ChainView(chain, settings)
    const dialect = {
      methods: { ...ethereumMethods(), ...methods },
      notFound: (method: string) =>
        new RpcError(-32601, `the method ${method} does not exist/is not available`),
    }
    super(view, dialect, faults, feedOf(view))
  }
}

function feedOf(view: ChainView): SocketFeed {
  let events: NodeEvents | null = null
  return {
    news: () => (events ??= new NodeEvents(view)).next(),
    subscribe({ method, params }) {
      if (method !== 'eth_subscribe') return null
      const topic = params as readonly unknown[]
      if (topic[0] !== 'newHeads' && topic[0] !== 'logs')
        return new RpcError(-32601, `no "${String(topic[0])}" subscription`)
      return {
        notification: 'eth_subscription',
        resultsOf: (news) =>
          isOfTopic(news as NodeEvent, topic) ? [resultOf(news as NodeEvent)] : [],
      }
    },
    idOf: toQuantity,
  }
}

export interface SimNodeOptions extends Omit<EthereumNodeOptions, 'faults'>, ServeOptions {}

/** A simulated Ethereum node on loopback. `await using` stops it. */
export interface SimNode extends ServedNode<EthereumNode> {
  /** The node's view of the chain, such as lag and pruning. May change at any time. */
  readonly view: EthereumViewSettings
}

/** Starts a node that serves its view of `chain` over HTTP and WebSockets. */
export async function startSimNode(options: SimNodeOptions): Promise<SimNode> {
  const served = await serveNode((faults) => new EthereumNode({ ...options, faults }), options)
  return { ...served, view: served.node.view.settings }
}
