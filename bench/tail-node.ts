// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChainModel } from '../e2e/upstream-sim/chain-model.ts'
import { EthereumNode } from '../e2e/upstream-sim/sim-node.ts'
import { FaultSwitch } from '../e2e/upstream-sim/faults.ts'
import { readRequest } from '../e2e/upstream-sim/json-rpc.ts'
import { seededRandom } from '../proxy/clock/testing/seeded-random.ts'
import type { Random } from '../proxy/clock/random.ts'
import { systemClock } from '../proxy/clock/clock.ts'
import { balanceOf } from './balances.ts'

/** Latencies of the answers. */
export interface Tail {
  readonly usualMs: number
  readonly slowMs: number
  /** Share of slow answers. */
  readonly slowShare: number
}

export interface TailNode extends AsyncDisposable {
  readonly url: string
  /** Number of balance requests. */
  readonly requests: number
}

/** An Ethereum node on loopback with some slow answers to `eth_getBalance`. */
export async function startTailNode(tail: Tail, random: Random): Promise<TailNode> {
  const chain = createChainModel({ seed: 'hedge', clock: systemClock })
  const node = new EthereumNode({ chain, faults: new FaultSwitch(seededRandom(1)) })
  let requests = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (!body.includes('"eth_getBalance"')) {
        response.end(node.reply(readRequest(body)) ?? '')
        return
      }
      requests += 1
      const isSlow = random.next() < tail.slowShare
      const { id, params } = JSON.parse(body) as { id: unknown; params: [string] }
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: balanceOf(params[0]) })
      setTimeout(() => response.end(answer), isSlow ? tail.slowMs : tail.usualMs)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
