// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { systemClock } from '../../proxy/clock/system-clock.ts'
import { createChainModel } from './chain-model.ts'
import { startSimNode } from './sim-node.ts'

const usage = `Simulated Ethereum nodes that serve one chain, for playing by hand.

  node e2e/upstream-sim/main.ts [--nodes 3] [--port 9001] [--seed text] [--chain-id 1] [--block-time-ms 12000]

The nodes listen on 127.0.0.1, on consecutive ports. Ctrl-C ends them.
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
      'block-time-ms': { type: 'string', default: '12000' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return
  }
  const count = wholeNumber('--nodes', values.nodes, maxNodes)
  const firstPort = wholeNumber('--port', values.port, 65_535 - count)
  const chain = createChainModel({
    seed: values.seed,
    chainId: wholeNumber('--chain-id', values['chain-id'], Number.MAX_SAFE_INTEGER),
    blockTimeMs: wholeNumber('--block-time-ms', values['block-time-ms'], 86_400_000),
    clock: systemClock,
  })
  for (let at = 0; at < count; at++) {
    const node = await startSimNode({ chain, name: `sim-${at + 1}`, port: firstPort + at })
    process.stdout.write(`${node.name}  ${node.url}\n`)
  }
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value
  throw new Error(`${flag} must be a whole number from 1 to ${max}, not "${text}"`)
}
