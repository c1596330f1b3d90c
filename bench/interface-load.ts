// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { connectTo, type InterfaceName } from './interface-calls.ts'

/*
 * Keeps connections to one interface busy, each with one read at a time, and checks every answer.
 * Prints one line of JSON.
 *
 *   node bench/interface-load.ts --interface REST --port 3360 --connections 16 --seconds 3
 */

const { values } = parseArgs({
  options: {
    interface: { type: 'string', default: 'REST' },
    port: { type: 'string', default: '3360' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '3' },
    /** Number of the first account, so that runs use distinct accounts. */
    first: { type: 'string', default: '0' },
  },
})
let next = Number(values.first)
const latenciesMs: number[] = []
const errors: string[] = []
const name = values.interface as InterfaceName
const connections = await Promise.all(
  Array.from({ length: Number(values.connections) }, () => connectTo(name, Number(values.port))),
)
const startedMs = performance.now()
const untilMs = startedMs + Number(values.seconds) * 1000
await Promise.all(
  connections.map(async (connection) => {
    for (let nowMs = performance.now(); nowMs < untilMs && errors.length < 100;) {
      await connection.read(next++).catch((error: Error) => errors.push(error.message))
      const endMs = performance.now()
      latenciesMs.push(endMs - nowMs)
      nowMs = endMs
    }
  }),
)
const seconds = (performance.now() - startedMs) / 1000
for (const connection of connections) connection.close()
const sorted = Float64Array.from(latenciesMs).toSorted()
const at = (share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
process.stdout.write(
  `${JSON.stringify({
    requests: sorted.length,
    errors: errors.length,
    errorSamples: Object.fromEntries(errors.slice(0, 3).map((message) => [message, 1])),
    requestsPerSecond: sorted.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  })}\n`,
)
