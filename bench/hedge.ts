// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ChildProcesses } from '../e2e/processes/child-processes.ts'
import { startRouter } from '../e2e/processes/router-process.ts'
import { seededRandom } from '../proxy/clock/testing/seeded-random.ts'
import { scratchDirectory } from './scratch-directory.ts'
import { readSteadily } from './steady-reads.ts'
import { startTailNode } from './tail-node.ts'

/*
 * The effect of hedging: the client's p99 with and without hedging, under a steady load on three
 * nodes with some answers of 2 s. Fails when a limit is exceeded.
 *
 *   node bench/hedge.ts
 */

const tail = { usualMs: 5, slowMs: 2_000, slowShare: 0.05 }
const perSecond = 300
const seconds = 20
const warmUpSeconds = 4
const nodeCount = 3
/** The timeout is longer than a slow answer, so that a router without hedging waits for it. */
const urlSettings = { timeout: '5s' }
const minRatio = 5
const maxExtraShare = 0.1

interface Measured {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly extraShare: number
}

const directory = scratchDirectory('hedge')

process.stdout.write(
  `${nodeCount} nodes, ${tail.slowShare * 100} % of answers at ${tail.slowMs / 1_000} s, ` +
    `${perSecond} reads a second for ${seconds} s\n\n` +
    '                  |  p50 ms |  p99 ms | extra calls\n',
)
const without = await measure('without hedging', ['--set-relay-retry-limit', '0'])
const hedged = await measure('with hedging', [])
const ratio = without.p99Ms / hedged.p99Ms
const isMet = ratio >= minRatio && hedged.extraShare <= maxExtraShare
process.stdout.write(
  `\np99 is ${ratio.toFixed(1)} times lower (target: ${minRatio}), ` +
    `at ${percent(hedged.extraShare)} extra calls (target: at most ${percent(maxExtraShare)}): ` +
    `${isMet ? 'met' : 'MISSED'}\n`,
)
process.exitCode = isMet ? 0 : 1

/** Measures one router with default settings over separate nodes. */
async function measure(name: string, flags: readonly string[]): Promise<Measured> {
  await using children = new ChildProcesses(directory)
  await using stack = new AsyncDisposableStack()
  const nodes = await Promise.all(
    Array.from({ length: nodeCount }, async (_, index) =>
      stack.use(await startTailNode(tail, seededRandom(index + 1))),
    ),
  )
  const upstreams = nodes.map(({ url }, index) => ({ name: `node-${index + 1}`, url }))
  const signal = AbortSignal.timeout(60_000)
  const { url } = await startRouter({
    ...{ children, directory, upstreams, signal, flags, urlSettings },
  })
  const load = { url, perSecond }
  await readSteadily({ ...load, seconds: warmUpSeconds, first: 0 })
  const askedBefore = nodes.reduce((sum, { requests }) => sum + requests, 0)
  const latenciesMs = await readSteadily({ ...load, seconds, first: perSecond * warmUpSeconds })
  const requests = nodes.reduce((sum, node) => sum + node.requests, 0) - askedBefore
  const at = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] as number
  const measured = {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    extraShare: requests / latenciesMs.length - 1,
  }
  const cells = [measured.p50Ms, measured.p99Ms].map((ms) => ms.toFixed(1).padStart(7))
  process.stdout.write(
    `${name.padEnd(17)} | ${cells.join(' | ')} | ${percent(measured.extraShare).padStart(11)}\n`,
  )
  return measured
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
