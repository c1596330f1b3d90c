// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { systemClock } from '../../proxy/clock/system-clock.ts'
import { createChainModel } from './chain-model.ts'
import { BitcoinChain, bitcoinNode } from './chains/btc.ts'
import { HubChain } from './chains/hub-chain.ts'
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

type MakeNode = (faults: FaultSwitch) => ChainNode

/** The chains that can be simulated, each by the name of its interface where it has several. */
const simulatedChains: Readonly<
  Record<string, (options: ChainOptions & { readonly chainId: number }) => MakeNode>
> = {
  eth(options) {
    const chain = createChainModel(options)
    return (faults) => new EthereumNode({ chain, faults })
  },
  btc(options) {
    const chain = new BitcoinChain(options)
    return (faults) => bitcoinNode(chain, faults)
  },
  slot(options) {
    const chain = new SlotChain(options)
    return (faults) => slotNode(chain, faults)
  },
  move(options) {
    const chain = new MoveChain(options)
    return () => moveNode(chain)
  },
  'hub-rest'(options) {
    const chain = new HubChain(options)
    return () => hubRestNode(chain)
  },
  'hub-tendermint'(options) {
    const chain = new HubChain(options)
    return (faults) => hubTendermintNode(chain, faults)
  },
}

const names = Object.keys(simulatedChains).join(', ')
const usage = `Simulated nodes that serve one chain, for playing by hand.

  node e2e/upstream-sim/main.ts [--chain eth] [--nodes 3] [--port 9001] [--seed text] [--chain-id 1] [--block-time-ms 12000]

The chain is one of ${names}; --chain-id is for eth. The nodes listen on 127.0.0.1, on consecutive ports. Ctrl-C ends them.
`

const maxNodes = 50

try {
  await run()
} catch (error) {
  process.stderr.write(`upstream-sim: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '3' },
      port: { type: 'string', default: '9001' },
      seed: { type: 'string', default: 'upstream-sim' },
      'chain-id': { type: 'string', default: '1' },
      'block-time-ms': { type: 'string' },
      chain: { type: 'string', default: 'eth' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return
  }
  const count = wholeNumber('--nodes', values.nodes, maxNodes)
  const firstPort = wholeNumber('--port', values.port, 65_535 - count)
  const chain = Object.hasOwn(simulatedChains, values.chain) && simulatedChains[values.chain]
  if (!chain) throw new Error(`--chain must be one of ${names}, not "${values.chain}"`)
  const blockTime = values['block-time-ms']
  const make = chain({
    seed: values.seed,
    chainId: wholeNumber('--chain-id', values['chain-id'], Number.MAX_SAFE_INTEGER),
    clock: systemClock,
    ...(blockTime === undefined
      ? {}
      : { blockTimeMs: wholeNumber('--block-time-ms', blockTime, 86_400_000) }),
  })
  for (let at = 0; at < count; at++) {
    const name = `sim-${at + 1}`
    const { url } = await serveNode(make, { name, port: firstPort + at })
    process.stdout.write(`${name}  ${url}\n`)
  }
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value
  throw new Error(`${flag} must be a whole number from 1 to ${max}, not "${text}"`)
}
