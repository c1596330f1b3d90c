// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type Socket } from 'node:net'
import { seededRandom } from '../proxy/clock/testing/seeded-random.ts'
import { systemClock } from '../proxy/clock/clock.ts'
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import { EthereumNode } from '../e2e/upstream-sim/sim-node.ts'
import { FaultSwitch } from '../e2e/upstream-sim/faults.ts'
import { readRequest } from '../e2e/upstream-sim/json-rpc.ts'
import { balanceOf } from './balances.ts'
import { fixedAnswer } from './shapes.ts'

/*
 * An upstream with minimal cost: it scans bytes for HTTP requests, and answers the calls of
 * `shapes.ts` without parsing. A simulated node answers all other calls.
 *
 *   node bench/mock-upstream.ts <port>
 */

const headEnd = Buffer.from('\r\n\r\n')
const chain = createChainModel({ seed: 'bench', clock: systemClock })
const node = new EthereumNode({ chain, faults: new FaultSwitch(seededRandom(1)) })

createServer({ noDelay: true }, (socket) => {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    rest = serve(socket, rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
  })
}).listen(Number(process.argv[2]), '127.0.0.1')

/** Answers every complete request in the bytes, and returns the rest. */
function serve(socket: Socket, bytes: Buffer): Buffer {
  let at = 0
  while (at < bytes.length) {
    const headAt = bytes.indexOf(headEnd, at)
    if (headAt < 0) break
    const head = bytes.toString('latin1', at, headAt).toLowerCase()
    const length = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0)
    const bodyAt = headAt + headEnd.length
    if (bytes.length < bodyAt + length) break
    const reply = answer(bytes.toString('latin1', bodyAt, bodyAt + length))
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${reply.length}\r\n\r\n${reply}`,
      'latin1',
    )
    at = bodyAt + length
  }
  return bytes.subarray(at)
}

function answer(body: string): string {
  if (body.startsWith('[{"jsonrpc":"2.0","id":')) {
    const items = body.slice(1, -1).split(/(?<=\}),(?=\{)/)
    return `[${items.map(answer).join(',')}]`
  }
  const id = /"id": *([^,}]+)/.exec(body)?.[1] ?? 'null'
  if (body.includes('"eth_getBalance"')) {
    const address = /"(0x[0-9a-f]{40})"/.exec(body)?.[1] ?? ''
    return `{"jsonrpc":"2.0","id":${id},"result":"${balanceOf(address)}"}`
  }
  if (body.includes('"eth_getLogs"')) return fixedAnswer('logs', id)
  if (body.includes('"eth_getBlockReceipts"')) return fixedAnswer('megabyte', id)
  return node.reply(readRequest(body)) ?? ''
}
