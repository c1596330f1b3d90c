// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { type Program, startProgram } from './program.ts'
import { createWorkspace, ethereumConfig } from './workspace.ts'

const rounds = Number(process.env['ROUNDS'] ?? 6)
const clientCount = 60
/** Half of the round trip between clients and routers, during which a request meets a close. */
const delayMs = 20
/** Time between the removal of a router from the balancer and its SIGTERM. */
const preStopMs = 100
const maxRestMs = 8_000
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })

/** Routers behind a balancer of TCP connections restart; clients reuse connections that rested. */
test('restarts lose no request on reused connections, and close none unannounced', async () => {
  await using node = await startSimNode({ chain: createChainModel(), name: 'a' })
  await using workspace = await createWorkspace()
  const start = () => startProgram(workspace, ethereumConfig([node]))
  let serving = await start()
  await using balancer = await startBalancer(() => serving)
  const stop = new AbortController()
  const all = Array.from({ length: clientCount }, (_, n) => runClient(balancer.url, n, stop.signal))
  const codes: unknown[] = []
  for (let round = 0; round < rounds; round++) {
    const former = serving
    serving = await start()
    await sleep(preStopMs)
    former.kill('SIGTERM')
    codes.push((await former.ended).code)
  }
  stop.abort()
  const results = await Promise.all(all)
  await serving[Symbol.asyncDispose]()
  const requests = results.reduce((sum, each) => sum + each.requests, 0)
  const failures = results.flatMap((each) => each.failures)
  process.stderr.write(`${rounds} restarts, ${requests} requests, ${failures.length} failed\n`)
  expect(failures).toEqual([])
  expect(codes).toEqual(Array.from({ length: rounds }, () => 0))
  expect(balancer.unannounced).toBe(0)
})

/** Sends requests on one connection, at once or after a rest, until the signal. */
async function runClient(url: string, seed: number, signal: AbortSignal) {
  const random = seededRandom(seed)
  await using client = { to: new Client(url), [Symbol.asyncDispose]: () => client.to.close() }
  const result = { requests: 0, failures: [] as string[] }
  while (!signal.aborted) {
    const restMs = random.next() < 0.1 ? random.next() * maxRestMs : 20
    await sleep(restMs, undefined, { signal }).catch(() => {})
    try {
      result.requests++
      const headers = { 'content-type': 'application/json' }
      const answer = await client.to.request({ path: '/', method: 'POST', headers, body })
      const text = await answer.body.text()
      if (!text.includes('"result":"0x1"')) result.failures.push(text)
    } catch (error) {
      result.failures.push(String(error))
    }
  }
  return result
}

/** A balancer in front of a router that may change, with the latency of a network. */
async function startBalancer(target: () => Program) {
  const state = { unannounced: 0 }
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port: Number(new URL(target().urls[0]!).port), allowHalfOpen: true })
    let isAnnounced = false
    far.on('data', (bytes) => (isAnnounced ||= bytes.includes('Connection: close')))
    far.on('end', () => {
      if (!isAnnounced && !near.readableEnded) state.unannounced++
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => setTimeout(() => to.write(bytes), delayMs))
      from.on('end', () => setTimeout(() => to.end(), delayMs))
      from.on('error', () => setTimeout(() => to.destroy(), delayMs))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  })
}
