// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patientClock } from '../../proxy/clock/testing/patient-clock.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { waitUntil } from '../processes/eventually.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { serveRouter, type ServedRouter } from '../served/served-router.ts'
import { type RedisProcess, startRedis } from './redis-process.fixture.ts'

interface Question {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

let directory: string
let children: ChildProcesses
const { signal } = new AbortController()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rpc-router-cache-test-'))
  children = new ChildProcesses(directory)
})

afterAll(async () => {
  await children[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

const account = `0x${'aa'.repeat(20)}`
const first = [account, 'earliest'] as const
const hashOf = (branch: string) => `0x${branch.repeat(64)}`

/** A node, a Redis, and replicas that share it. */
class Fleet implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack()
  readonly routers: ServedRouter[] = []
  redis!: RedisProcess
  node!: MirrorNode
  branch = 'a'
  head = 100
  /** Delays the node's answers. */
  hold: () => Promise<unknown> | undefined = () => undefined
  /** Methods of client calls that reached the node. */
  requests: string[] = []

  async start(config: readonly string[] = []): Promise<this> {
    this.redis = await startRedis({ children, directory, signal, config })
    this.#stack.defer(() => this.redis.kill())
    this.node = this.#stack.use(
      await new MirrorNode('node', ({ body }, response) => {
        const read = JSON.parse(body.toString()) as Question | readonly Question[]
        const answers = [read].flat().map((each) => this.#answerTo(each))
        if (Array.isArray(read)) this.requests.push(`batch of ${read.length}`)
        response.setHeader('content-type', 'application/json')
        const held = body.includes('eth_getBalance') ? this.hold() : undefined
        const answer = JSON.stringify(Array.isArray(read) ? answers : answers[0])
        void Promise.resolve(held).then(() => response.end(answer))
      }).start(),
    )
    for (const name of ['one', 'two']) this.routers.push(await this.router(name))
    await this.connected()
    return this
  }

  async router(_name: string): Promise<ServedRouter> {
    return this.#stack.use(
      await serveRouter({
        primaries: [this.node],
        urlSettings: { node: { 'skip-verifications': ['*'] } },
        settings: {
          'cache-bytes': '16MiB',
          'resp-cache': { addresses: [this.redis.address], 'key-prefix': 'p:' },
        },
      }),
    )
  }

  /** Waits until all routers are connected to the store. */
  async connected(): Promise<void> {
    let each = 0
    await waitUntil('the store is used', 60_000, signal, async () => {
      const seen = await Promise.all(
        [0, 1].map((at) => this.ask(at, 'web3_sha3', [`0x${(each += 1).toString(16)}`], '; debug')),
      )
      return seen.every(({ cache }) => !cache?.includes('store-down'))
    })
    this.requests.length = 0
  }

  #answerTo(question: Question): unknown {
    const { method, id } = question
    if (method !== 'eth_blockNumber' && method !== 'eth_chainId') this.requests.push(method)
    return { jsonrpc: '2.0', id, result: this.#resultOf(question) }
  }

  #resultOf({ method, params }: Question): unknown {
    if (method === 'eth_blockNumber') return `0x${this.head.toString(16)}`
    if (method !== 'eth_getBlockByNumber') return `0x${this.branch}`
    return { number: params[0], hash: hashOf(this.branch), parentHash: hashOf('0') }
  }

  async ask(at: number, method: string, params: readonly unknown[], debug = '', fresh = false) {
    const response = await fetch(this.routers[at]!.url, {
      method: 'POST',
      headers: {
        ...(debug && { 'rpc-debug-relay': 'true' }),
        ...(fresh && { 'rpc-force-cache-refresh': '' }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: at, method, params }),
    })
    const { result, id } = (await response.json()) as { result?: unknown; id: unknown }
    const cache = response.headers.get('rpc-cache')
    if (response.status !== 200 || id !== at)
      throw new Error(`HTTP ${response.status}, id ${String(id)}`)
    return { result, cache, provider: response.headers.get('rpc-provider-address') }
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#stack.disposeAsync()
  }
}

test("one replica's answer is a hit at another, and keys contain nothing of the call", async () => {
  await using fleet = await new Fleet().start()
  let block = 0
  await waitUntil('another replica has the answer', 60_000, signal, async () => {
    block += 1
    const params = [account, `0x${block.toString(16)}`]
    const [one, two] = [
      await fleet.ask(0, 'eth_getBalance', params),
      await fleet.ask(1, 'eth_getBalance', params),
    ]
    expect(one).toMatchObject({ cache: 'miss', result: '0xa' })
    expect(two).toMatchObject({ result: '0xa', provider: 'node' })
    return two.cache === 'hit'
  })
  expect(await fleet.redis.cli('keys', '*aaaa*')).toBe('')
})

test('the items of a batch leave in one request, although each waits for the store', async () => {
  await using fleet = await new Fleet().start()
  const batch = Array.from({ length: 20 }, (_, id) => {
    const params = [account, `0x${(id + 1).toString(16)}`]
    return { jsonrpc: '2.0', id, method: 'eth_getBalance', params }
  })
  const response = await fetch(fleet.routers[0]!.url, {
    method: 'POST',
    body: JSON.stringify(batch),
  })
  expect(await response.json()).toEqual(
    batch.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0xa' })),
  )
  expect(fleet.requests.at(-1)).toBe('batch of 20')
})

test('a replica does not wait for another replica whose node hangs', async () => {
  await using fleet = await new Fleet().start()
  const hung = Promise.withResolvers<void>()
  const holds = [hung.promise]
  fleet.hold = () => holds.pop()
  const slow = fleet.ask(0, 'eth_getBalance', first)
  await expect.poll(() => fleet.requests).toEqual(['eth_getBalance'])
  expect((await fleet.ask(1, 'eth_getBalance', first)).result).toBe('0xa')
  hung.resolve()
  expect((await slow).result).toBe('0xa')
})

test('a reorg at one replica drops entries near the head in all replicas', async () => {
  await using fleet = await new Fleet().start()
  const near = [account, '0x60']
  const block = ['0x60', false]
  for (const at of [0, 1]) await fleet.ask(at, 'eth_getBalance', near)
  await fleet.ask(0, 'eth_getBlockByNumber', block)
  expect(await fleet.ask(1, 'eth_getBalance', near)).toMatchObject({ cache: 'hit', result: '0xa' })
  fleet.branch = 'b'
  const beganMs = patientClock.nowMs()
  await fleet.ask(0, 'eth_getBlockByNumber', block, '', true)
  for (const at of [1, 0])
    await expect.poll(async () => (await fleet.ask(at, 'eth_getBalance', near)).result).toBe('0xb')
  // An entry would expire after one block time.
  expect(patientClock.nowMs() - beganMs).toBeLessThan(12_000)
})

test.each([
  ['hangs', (redis: RedisProcess) => redis.pause()],
  ['is killed', (redis: RedisProcess) => redis.kill()],
  ['has no memory left', (redis: RedisProcess) => redis.cli('config', 'set', 'maxmemory', '1')],
  ['takes no writes', (redis: RedisProcess) => redis.cli('replicaof', '127.0.0.1', '1')],
] as const)('a store that %s is misses, and no call fails', async (_, harm) => {
  await using fleet = await new Fleet().start()
  await fleet.ask(0, 'eth_getBalance', first)
  await harm(fleet.redis)
  for (let each = 0; each < 100; each++) {
    const { result } = await fleet.ask(each % 2, 'eth_getStorageAt', [
      account,
      `0x${each.toString(16)}`,
      'earliest',
    ])
    expect(result).toBe('0xa')
  }
  const failures = fleet.routers.map(({ storeFigures }) => storeFigures!.failures)
  expect(failures.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0)
})

test('a damaged answer, or one of another version, is a miss', async () => {
  await using fleet = await new Fleet().start()
  await fleet.ask(0, 'eth_getBalance', first)
  const keys = (await fleet.redis.cli('keys', 'p:a:*')).split('\n')
  for (const junk of ['', 'RPC0', 'RPC1', `RPC1${'x'.repeat(100)}`]) {
    for (const key of keys) await fleet.redis.cli('set', key, junk)
    await using other = await fleet.router('other')
    fleet.routers[2] = other
    await waitUntil('the store is used', 60_000, signal, async () => {
      await fleet.ask(2, 'eth_getBalance', first, '', true)
      return true
    })
    expect((await fleet.ask(2, 'eth_getBalance', first)).result).toBe('0xa')
  }
})
