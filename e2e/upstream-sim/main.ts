// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { systemClock } from '../../proxy/clock/system-clock.ts'
import { simulatedChains } from './start-nodes.ts'

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
  const start = chain({
    seed: values.seed,
    chainId: wholeNumber('--chain-id', values['chain-id'], Number.MAX_SAFE_INTEGER),
    clock: systemClock,
    ...(blockTime === undefined
      ? {}
      : { blockTimeMs: wholeNumber('--block-time-ms', blockTime, 86_400_000) }),
  })
  for (let at = 0; at < count; at++) {
    const name = `sim-${at + 1}`
    const { url } = await start(name, firstPort + at)
    process.stdout.write(`${name}  ${url}\n`)
  }
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value
  throw new Error(`${flag} must be a whole number from 1 to ${max}, not "${text}"`)
}
