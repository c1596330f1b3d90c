// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { SharedEntry } from '../cache/entry-codec.ts'
import type { AnswerSharing, Peek, SharedAnswers } from '../cache/shared-cache.ts'
import { CacheFixture } from '../cache/testing/cache-fixture.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { callKey } from '../relay/call-key.ts'
import { createOwnerTable, OwnerTable } from './owner-table.ts'
import { PeerAnswers } from './peer-answers.ts'
import { LinkedPeers } from './testing/linked-peers.ts'

const directory = mkdtempSync(join(tmpdir(), 'rpc-router-owners-'))
afterAll(() => rmSync(directory, { recursive: true }))

const keyOf = (text: string) => callKey('ETH1\n', Buffer.from(text), text.length)
const entryOf = (body: string): SharedEntry => ({
  ...{ headers: [], trailers: [], upstream: 'a', latestBlock: null, ageClass: 'finalized' },
  ...{ isEmpty: false, head: -1, reorgs: 0, storedWallMs: 0, ttlMs: 60_000, body },
})

/** A worker, and the state of the calls that it has made. */
class Worker {
  readonly sharing: AnswerSharing
  readonly calls = new Map<string, ReturnType<Peek>>()
  reorgs = 0

  constructor(answers: PeerAnswers) {
    const peek: Peek = ({ bytes }) => this.calls.get(Buffer.from(bytes).toString()) ?? null
    this.sharing = answers.share('ETH1', () => (this.reorgs += 1), peek)
  }

  /** What a lookup found; `miss` if this worker now calls an upstream. */
  async find(key: string, lifetimeMs?: number): Promise<unknown> {
    const found = await this.sharing.lookUp(keyOf(key), ({ body }) => body, true, lifetimeMs)
    if (found) return found.entry
    this.calls.set(key, 'in-flight')
    return 'miss'
  }

  answered(key: string, body = 'answer'): void {
    this.calls.set(key, entryOf(body))
  }
}

class Fleet {
  readonly clock = new VirtualClock()
  readonly peers = new LinkedPeers()

  workers(count: number): readonly Worker[] {
    const file = join(directory, 'owners')
    createOwnerTable(file)
    return Array.from({ length: count }, (_, at) => {
      const owners = new OwnerTable(file, at + 1, this.clock)
      return new Worker(new PeerAnswers(this.peers.of(at + 1), this.clock, owners))
    })
  }

  /** Lets messages arrive, and `ms` pass. */
  async pass(ms = 0): Promise<void> {
    for (let each = 0; each < 6; each++) await turn()
    if (ms > 0) await this.clock.advance(ms)
    for (let each = 0; each < 6; each++) await turn()
  }
}

/** Two workers, the first of which fetches `key`. */
async function fetching() {
  const fleet = new Fleet()
  const [one, two] = fleet.workers(2) as readonly [Worker, Worker]
  await one.find('key')
  return { fleet, one, two }
}

test('an answer of one worker serves all; a key that nobody fetched asks nobody', async () => {
  const fleet = new Fleet()
  const [one, two, three] = fleet.workers(3) as readonly [Worker, Worker, Worker]
  expect(await one.find('key')).toBe('miss')
  one.answered('key')
  for (const each of [two, three]) expect(await each.find('key')).toBe('answer')
  expect(await two.find('other')).toBe('miss')
  expect(fleet.peers.sent.filter((each) => each.endsWith('pull'))).toEqual([
    '2 -> 1 pull',
    '3 -> 1 pull',
  ])
})

test('a call in flight at one worker serves another that asks meanwhile', async () => {
  const { fleet, one, two } = await fetching()
  const found = two.find('key')
  await fleet.pass(10)
  one.answered('key')
  await fleet.pass(5)
  expect(await found).toBe('answer')
})

test.each([
  ['fails', (one: Worker, fleet: Fleet) => (one.calls.delete('key'), fleet.pass(5))],
  ['takes longer than a lease', (_: Worker, fleet: Fleet) => fleet.pass(250)],
  ['ends with its worker', async (_: Worker, fleet: Fleet) => fleet.peers.end(1)],
  [
    'has a long answer',
    (one: Worker, fleet: Fleet) => {
      one.answered('key', 'x'.repeat(3e6))
      return fleet.pass(5)
    },
  ],
])('if a call in flight %s, the other worker calls an upstream', async (_, event) => {
  const { fleet, one, two } = await fetching()
  const found = two.find('key')
  await fleet.pass(10)
  await event(one, fleet)
  expect(await found).toBe('miss')
})

test('a worker whose answer must have expired is not asked', async () => {
  const { fleet, one, two } = await fetching()
  one.answered('key')
  await fleet.pass(1_000)
  expect(await two.find('key', 500)).toBe('miss')
  expect(fleet.peers.sent).toEqual([])
})

test('a worker that is gone is asked in vain', async () => {
  const { fleet, two } = await fetching()
  fleet.peers.end(1)
  expect(await two.find('key')).toBe('miss')
})

test('a reorg at one worker reaches the others before a later pull', async () => {
  const { fleet, one, two } = await fetching()
  one.answered('key')
  await two.sharing.reorged()
  const found = two.find('key')
  await fleet.pass()
  expect([one.reorgs, two.reorgs, await found]).toEqual([1, 0, 'answer'])
  expect(fleet.peers.sent.slice(-3)).toEqual(['2 -> all reorged', '2 -> 1 pull', '1 -> 2 pulled'])
})

test('a lookup that may not wait asks nobody and claims nothing', async () => {
  const { fleet, one, two } = await fetching()
  expect(two.sharing.lookUp(keyOf('key'), ({ body }) => body, false)).toBeNull()
  expect(two.sharing.lookUp(keyOf('other'), ({ body }) => body, false)).toBeNull()
  expect(await one.find('other')).toBe('miss')
  expect(fleet.peers.sent).toEqual([])
})

/** Workers with caches, whose nodes have one head. */
function cachesOf(answer: () => unknown) {
  const peers = new LinkedPeers()
  const file = join(directory, 'owners')
  createOwnerTable(file)
  const caches = [1, 2].map((number) => {
    const share: SharedAnswers['share'] = (scope, clock, onReorg, peek) => {
      const owners = new OwnerTable(file, number, clock)
      return new PeerAnswers(peers.of(number), clock, owners).share(scope, onReorg, peek!)
    }
    return new CacheFixture(answer, { shared: { ...noStore, share } }).heads(head)
  })
  return { peers, caches: caches as [CacheFixture, CacheFixture] }
}

const head = 10_000
const noStore = { keys: null as never, figures: { failures: 0, broken: 0 } }
const balance = (block: string) => ['eth_getBalance', [`0x${'a'.repeat(40)}`, block]] as const

test.each([
  ['finalized', '0x1'],
  ['near-head', `0x${(head - 1).toString(16)}`],
  ['latest', 'latest'],
])('a cached answer serves another worker, once for all: %s', async (ageClass, block) => {
  const { peers, caches } = cachesOf(() => '0x5')
  const [one, two] = caches
  expect((await one.get(...balance(block))).cache).toBe(`miss ${ageClass}`)
  for (let each = 0; each < 3; each++)
    expect(await two.get(...balance(block))).toMatchObject({
      cache: `hit ${ageClass}`,
      answer: '0x5',
    })
  expect([one.requests, two.requests]).toEqual([1, 0])
  expect(peers.sent).toEqual(['2 -> 1 pull', '1 -> 2 pulled'])
})

test.each<[string, (one: CacheFixture, two: CacheFixture) => unknown]>([
  ['this worker has seen a later head', (_, two) => two.grow()],
  ['the other worker has seen a later head', (one) => one.grow()],
  ['the other worker has seen another branch', (one) => one.pool.tracker.branchChanged()],
])('an answer near the head serves no other worker once %s', async (_, event) => {
  const [one, two] = cachesOf(() => '0x5').caches
  const request = balance(`0x${(head - 1).toString(16)}`)
  await one.get(...request)
  await Promise.all([one, two].map((each) => each.clock.advance(10)))
  event(one, two)
  expect((await two.get(...request)).cache).toBe('miss near-head')
})

test('equal calls at two workers are sent once', async () => {
  const [one, two] = cachesOf(() => '0x5').caches
  const [first, second] = [one.start(...balance('0x1')), two.get(...balance('0x1'))]
  for (let ms = 0; ms < 50; ms++) await one.clock.advance(1)
  expect([(await first).cache, (await second).cache]).toEqual(['miss finalized', 'hit finalized'])
  expect([one.requests, two.requests]).toEqual([1, 0])
})
