// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { createPublicClient, http } from 'viem'
import { mainnet } from 'viem/chains'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { attacks } from '../hostile/attacks.fixture.ts'
import { startHostileRouter } from '../hostile/hostile-router.fixture.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import type { Fault } from '../upstream-sim/faults.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

/*
 * Mixed traffic with faults of nodes and occasional attacks: `make soak MINUTES=30`. Memory, open
 * files and the delay of the event loop must not grow.
 */

const minutes = Number(process.env['SOAK_MINUTES'] ?? 1)
const slopeBytesPerMinute = 2e6
const faults: readonly Fault[] = [
  { kind: 'slow', delayMs: 300 },
  { kind: 'reset', when: 'after-head' },
  { kind: 'half-body', framing: 'chunked' },
  { kind: 'status', status: 502, body: 'html' },
  { kind: 'error', code: -32000, message: 'header not found' },
]

test('memory, files and delays stay flat', { timeout: minutes * 60_000 + 120_000 }, async () => {
  await using stack = new AsyncDisposableStack()
  const chain = createChainModel({ blockTimeMs: 1_000 })
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => stack.use(await startSimNode({ chain, name }))),
  )
  for (const node of nodes)
    for (const fault of faults) node.faults.add(fault, { probability: 0.003 })
  const router = stack.use(
    await startHostileRouter(
      nodes.map(({ name, url, socketUrl }) => ({ name, urls: [{ url }, { url: socketUrl }] })),
    ),
  )
  const client = createPublicClient({
    chain: mainnet,
    transport: http(router.url, { batch: true }),
  })
  const endMs = performance.now() + minutes * 60_000
  const isOver = () => performance.now() > endMs
  let answers = 0
  const failures: string[] = []

  const read = async (address: `0x${string}`) => {
    await client.getBalance({ address })
    await Promise.all([
      client.getBlockNumber({ cacheTime: 0 }),
      client.getBlock(),
      client.getGasPrice(),
    ])
    answers += 4
  }
  const reading = async (_: unknown, at: number) => {
    for (let turn = 0; !isOver(); turn++) {
      const address = `0x${(at * 1e6 + turn).toString(16).padStart(40, '0')}` as const
      await read(address).catch((error: unknown) => failures.push(String(error)))
      await sleep(10)
    }
  }
  const watching = async () => {
    while (!isOver()) {
      const socket = new WebSocket(router.url.replace('http', 'ws'))
      let heads = 0
      socket
        .on('error', () => {})
        .on('message', () => (heads += 1))
        .on('open', () => {
          socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
        })
      await sleep(5_000)
      if (heads < 2) failures.push('no heads in five seconds')
      socket.close()
    }
  }
  const random = seededRandom(1)
  const attacking = async () => {
    const names = Object.keys(attacks).filter((name) => !name.includes('answers'))
    while (!isOver()) {
      await sleep(8_000)
      const name = names[Math.floor(random.next() * names.length)] as string
      await router.attack([name], 1)
    }
  }
  const samples: { readonly minute: number; readonly bytes: number; readonly delayMs: number }[] =
    []
  const filesBefore = router.footprint().openFiles
  const sampling = async () => {
    const startedMs = performance.now()
    while (!isOver()) {
      await sleep(1_000)
      const minute = (performance.now() - startedMs) / 60_000
      const askedMs = performance.now()
      await router.metrics()
      const delayMs = performance.now() - askedMs
      samples.push({ minute, bytes: router.footprint().residentBytes, delayMs })
    }
  }
  const work = [
    ...Array.from({ length: 8 }, reading),
    watching(),
    watching(),
    attacking(),
    sampling(),
  ]
  await Promise.all(work)
  expect(router.child.alive, router.child.tail()).toBe(true)
  // The idle timeout closes connections of clients and nodes.
  await expect
    .poll(() => router.footprint().openFiles, { timeout: 90_000 })
    .toBeLessThan(filesBefore + 64)
  const half = samples.slice(samples.length / 2)
  // Attacks use memory briefly, so the lowest sample per minute shows leaks.
  const lowest = [...Map.groupBy(half, ({ minute }) => Math.floor(minute)).values()].map((each) =>
    each.reduce((one, other) => (other.bytes < one.bytes ? other : one)),
  )
  const slope = slopeOf(lowest)
  const delayMs = Math.max(...half.map((each) => each.delayMs)).toFixed(0)
  const figures = `${answers} answers, ${failures.length} failed, ${(slope / 1e6).toFixed(1)} MB a minute, metrics in at most ${delayMs} ms, ${router.footprint().openFiles} files`
  const megabytes = lowest.map(({ bytes }) => Math.round(bytes / 1e6)).join(' ')
  process.stdout.write(`soak: ${figures}; MB in each minute: ${megabytes}\n`)
  expect(failures.length, failures[0]).toBeLessThan(answers / 1_000)
  // The heap settles only in longer runs.
  if (minutes >= 10) expect(slope).toBeLessThan(slopeBytesPerMinute)
})

/** Slope of the least-squares line through the samples. */
function slopeOf(samples: readonly { readonly minute: number; readonly bytes: number }[]): number {
  const mean = (of: (sample: (typeof samples)[number]) => number) =>
    samples.reduce((sum, each) => sum + of(each), 0) / samples.length
  const [minute, bytes] = [mean((each) => each.minute), mean((each) => each.bytes)]
  const above = mean((each) => (each.minute - minute) * (each.bytes - bytes))
  return above / mean((each) => (each.minute - minute) ** 2)
}
