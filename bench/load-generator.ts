// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect } from 'node:net'
import { parseArgs } from 'node:util'
import { ReplyCollector } from './http-reply.ts'
import { requestOf, type ShapeName } from './shapes.ts'

/*
 * Keeps a number of connections busy, each with one request at a time, and checks every answer.
 * Prints one line of JSON.
 *
 *   node bench/load-generator.ts --port 8545 --shape read --connections 64 --seconds 5 --first 0
 */

const { values } = parseArgs({
  options: {
    /** Several ports, separated by commas, get an equal number of connections each. */
    port: { type: 'string', default: '8545' },
    /** A shape of `shapes.ts`. */
    shape: { type: 'string', default: 'read' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '5' },
    /** Number of the first request, so that runs send distinct requests. */
    first: { type: 'string', default: '0' },
  },
})
const ports = values.port.split(',').map(Number)
const shape = values.shape as ShapeName
const durationMs = Number(values.seconds) * 1000
const latenciesMs: number[] = []
const errors = new Map<string, number>()
let next = Number(values.first)

const startedMs = performance.now()
const untilMs = startedMs + durationMs
await Promise.all(
  Array.from({ length: Number(values.connections) }, (_, at) =>
    keepBusy(ports[at % ports.length] ?? 0),
  ),
)
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

/** Keeps a connection busy with one request at a time. A lost connection is an error. */
function keepBusy(port: number): Promise<void> {
  const host = `127.0.0.1:${port}`
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const replies = new ReplyCollector()
    let sentMs = 0
    let request = requestOf(shape, 0)
    const finish = (error?: string) => {
      if (error !== undefined) count(error)
      socket.destroy()
      resolve()
    }
    const send = () => {
      request = requestOf(shape, next++)
      const { body } = request
      sentMs = performance.now()
      if (sentMs >= untilMs) return finish()
      socket.write(
        `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        'latin1',
      )
    }
    socket.once('connect', send)
    socket.once('error', (error) => finish(error.message))
    socket.once('end', () => finish('the connection was closed'))
    socket.on('data', (chunk: Buffer) => {
      const reply = replies.push(chunk)
      if (reply === null) return
      latenciesMs.push(performance.now() - sentMs)
      if (reply.status !== 200 || !request.isRight(reply.body))
        count(`${reply.status} ${reply.body.toString('latin1', 0, 120)}`)
      send()
    })
  })
}

function count(error: string): void {
  errors.set(error, (errors.get(error) ?? 0) + 1)
}
