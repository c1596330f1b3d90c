// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect } from 'node:net'
import { parseArgs } from 'node:util'
import { addressOf, balanceOf } from './balances.ts'
import { replyIn } from './http-reply.ts'

/*
 * Keeps a number of connections busy, each with one request at a time, and checks every answer.
 * Prints one line of JSON.
 *
 *   node bench/load-generator.ts --port 8545 --connections 64 --seconds 5 --first 0
 */

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8545' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    /** The number of the first address, so that no two runs ask for the same. */
    first: { type: 'string', default: '0' },
  },
})
const port = Number(values.port)
const host = `127.0.0.1:${port}`
const durationMs = Number(values.seconds) * 1000
const latenciesMs: number[] = []
const errors = new Map<string, number>()
let next = Number(values.first)

const startedMs = performance.now()
const untilMs = startedMs + durationMs
await Promise.all(Array.from({ length: Number(values.connections) }, keepBusy))
const seconds = (performance.now() - startedMs) / 1000
const sorted = Float64Array.from(latenciesMs).toSorted()
const at = (share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
process.stdout.write(
  `${JSON.stringify({
    requests: sorted.length,
    errors: [...errors.values()].reduce((sum, times) => sum + times, 0),
    errorSamples: Object.fromEntries([...errors].slice(0, 3)),
    requestsPerSecond: sorted.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  })}\n`,
)

/** One connection, one request at a time, until time is up. A lost connection is an error. */
function keepBusy(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentMs = 0
    let asked = { id: 0, result: '' }
    let received: Buffer = Buffer.alloc(0)
    const finish = (error?: string) => {
      if (error !== undefined) count(error)
      socket.destroy()
      resolve()
    }
    const send = () => {
      sentMs = performance.now()
      if (sentMs >= untilMs) return finish()
      const id = next++
      const address = addressOf(id)
      asked = { id, result: balanceOf(address) }
      const body = `{"jsonrpc":"2.0","id":${id},"method":"eth_getBalance","params":["${address}","latest"]}`
      socket.write(
        `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        'latin1',
      )
    }
    socket.once('connect', send)
    socket.once('error', (error) => finish(error.message))
    socket.once('end', () => finish('the connection was closed'))
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const reply = replyIn(received)
      if (reply === null) return
      received = Buffer.alloc(0)
      latenciesMs.push(performance.now() - sentMs)
      const right =
        reply.status === 200 &&
        reply.body.includes(`"result":"${asked.result}"`) &&
        reply.body.includes(`"id":${asked.id}`)
      if (!right) count(`${reply.status} ${reply.body.slice(0, 120)}`)
      send()
    })
  })
}

function count(error: string): void {
  errors.set(error, (errors.get(error) ?? 0) + 1)
}
