// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { systemClock } from '../../proxy/clock/clock.ts'
import { ChainModel } from './chain-model.ts'
import { BitcoinChain, bitcoinNode } from './chains/btc.ts'
import { HubChain } from './chains/hub-chain.ts'
import { serveHubGrpc } from './chains/hub-grpc.ts'
import { hubRestNode } from './chains/hub-rest.ts'
import { hubTendermintNode } from './chains/hub-tendermint.ts'
import { MoveChain } from './chains/move-chain.ts'
import { moveNode } from './chains/move-node.ts'
import { SlotChain } from './chains/slot-chain.ts'
import { slotNode } from './chains/slot-node.ts'
import type { FaultSwitch } from './faults.ts'
import type { ChainOptions } from './growing-chain.ts'
import { type ChainNode, serveNode } from './served-node.ts'
import { EthereumNode } from './sim-node.ts'

/** Starts a node of a chain, and returns its URL. */
type StartNode = (name: string, host: string, port: number) => Promise<string>

/** Returns the starter for nodes that share one chain. */
function nodesOf<Chain>(
  Chain: new (options: ChainOptions) => Chain,
  node: (chain: Chain, faults: FaultSwitch) => ChainNode,
  own: object = {},
): (options: ChainOptions) => StartNode {
  return (options) => {
    const chain = new Chain({ ...options, ...own })
    return async (name, host, port) => {
      const { url } = await serveNode((faults) => node(chain, faults), { name, host, port })
      return url
    }
  }
}

const ethereumNode = (chain: ChainModel, faults: FaultSwitch) => new EthereumNode({ chain, faults })

/** Simulated chains by name, with the interface where a chain has several. */
const simulatedChains = new Map([
  ['eth', nodesOf(ChainModel, ethereumNode)],
  ['perp', nodesOf(ChainModel, ethereumNode, { chainId: 999 })],
  ['btc', nodesOf(BitcoinChain, bitcoinNode)],
  ['slot', nodesOf(SlotChain, slotNode)],
  ['move', nodesOf(MoveChain, (chain) => moveNode(chain))],
  ['hub-rest', nodesOf(HubChain, (chain) => hubRestNode(chain))],
  ['hub-tendermint', nodesOf(HubChain, hubTendermintNode)],
  [
    'hub-grpc',
    (options: ChainOptions): StartNode => {
      const chain = new HubChain(options)
      return (_, host, port) => serveHubGrpc(chain, host, port)
    },
  ],
])

const names = [...simulatedChains.keys()].join(', ')
const usage = `Simulated nodes that serve one chain, for playing by hand.

  node e2e/upstream-sim/main.ts [--chain eth] [--nodes 3] [--host 127.0.0.1] [--port 9001] [--block-time-ms 12000]

The chain is one of ${names}. The nodes listen on consecutive ports. Ctrl-C ends them.
`

try {
  await run()
} catch (error) {
  process.stderr.write(`upstream-sim: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      chain: { type: 'string', default: 'eth' },
      nodes: { type: 'string', default: '3' },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '9001' },
      'block-time-ms': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return
  }
  const chain = simulatedChains.get(values.chain)
  if (!chain) throw new Error(`--chain must be one of ${names}, not "${values.chain}"`)
  const blockTimeMs = values['block-time-ms']
  const start = chain({
    clock: systemClock,
    ...(blockTimeMs === undefined ? {} : { blockTimeMs: Number(blockTimeMs) }),
  })
  for (let at = 0; at < Number(values.nodes); at++) {
    const name = `sim-${at + 1}`
    const port = Number(values.port) + at
    process.stdout.write(`${name}  ${await start(name, values.host, port)}\n`)
  }
}
