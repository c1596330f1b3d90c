// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SharedEntry } from '../cache/entry-codec.ts'
import type { AnswerSharing } from '../cache/shared-cache.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { PeerAnswers } from './peer-answers.ts'
import { LinkedPeers } from './testing/linked-peers.ts'

const entryOf = (body: string, head = -1): SharedEntry => ({
  ...{ headers: [], trailers: [], upstream: 'a', latestBlock: null, ageClass: 'finalized' },
  ...{ isEmpty: false, head, reorgs: 0, storedWallMs: 0, ttlMs: 60_000, body: Buffer.from(body) },
})

class Fleet {
  readonly clock = new VirtualClock()
  readonly peers = new LinkedPeers()
  readonly reorgs: number[] = []

  worker(number: number): AnswerSharing {
    const answers = new PeerAnswers(this.peers.of(number), this.clock, 1e6)
    return answers.share('ETH1', this.clock, () => this.reorgs.push(number))
  }

  /** Lets messages arrive, and `ms` pass. */
  async pass(ms = 0): Promise<void> {
    for (let each = 0; each < 6; each++) await turn()
    if (ms > 0) await this.clock.advance(ms)
    for (let each = 0; each < 6; each++) await turn()
  }
}

/** Two workers, the first of which fetches `key`, as the second knows. */
async function fetching() {
  const fleet = new Fleet()
  const [one, two] = [fleet.worker(1), fleet.worker(2)]
  await find(one, 'key')
  await fleet.pass(2)
  return { fleet, one, two }
}

/** What a lookup found, or `miss`. */
async function find(worker: AnswerSharing, key: string): Promise<string> {
  const { entry } = await worker.lookUp(key, ({ body }) => Buffer.from(body as Uint8Array), true)
  return entry ? entry.toString() : 'miss'
}

test('an answer of one worker serves all; a key that nobody fetched asks nobody', async () => {
  const fleet = new Fleet()
  const [one, two, three] = [fleet.worker(1), fleet.worker(2), fleet.worker(3)]
  expect(await find(one, 'key')).toBe('miss')
  await fleet.pass(2)
  await one.keep('key', entryOf('answer'))
  for (const each of [two, three]) expect(await find(each, 'key')).toBe('answer')
  expect(await find(two, 'other')).toBe('miss')
  await fleet.pass(2)
  expect(fleet.peers.sent.filter((each) => each.endsWith('pull'))).toEqual([
    '2 -> 1 pull',
    '3 -> 1 pull',
  ])
})

test('a call in flight at one worker serves another that asks meanwhile', async () => {
  const { fleet, one, two } = await fetching()
  const found = find(two, 'key')
  await fleet.pass(10)
  await one.keep('key', entryOf('answer'))
  expect(await found).toBe('answer')
})

test.each([
  ['fails', (one: AnswerSharing) => one.drop('key')],
  ['takes longer than a lease', (_: AnswerSharing, fleet: Fleet) => fleet.pass(250)],
  ['ends with its worker', async (_: AnswerSharing, fleet: Fleet) => fleet.peers.end(1)],
])('if a call in flight %s, the other worker calls an upstream', async (_, event) => {
  const { fleet, one, two } = await fetching()
  const found = find(two, 'key')
  await fleet.pass(10)
  await event(one, fleet)
  expect(await found).toBe('miss')
})

test('a worker that is gone is not asked', async () => {
  const fleet = new Fleet()
  const [one, two] = [fleet.worker(1), fleet.worker(2)]
  await find(one, 'key')
  await one.keep('key', entryOf('answer'))
  await fleet.pass(2)
  fleet.peers.end(1)
  await fleet.pass()
  expect(await find(two, 'key')).toBe('miss')
})

test('a reorg at one worker drops what others know about blocks that are not final', async () => {
  const fleet = new Fleet()
  const [one, two] = [fleet.worker(1), fleet.worker(2)]
  for (const key of ['head', 'final']) await find(one, key)
  await one.keep('head', entryOf('old', 100))
  await one.keep('final', entryOf('final'))
  await fleet.pass(2)
  await two.reorged()
  await fleet.pass()
  expect(fleet.reorgs).toEqual([1])
  expect([await find(two, 'head'), await find(two, 'final')]).toEqual(['miss', 'final'])
})

test('a lookup that may not wait, such as that of a slice, waits for no call and delays none', async () => {
  const fleet = new Fleet()
  const [one, two] = [fleet.worker(1), fleet.worker(2)]
  const slice = (each: AnswerSharing) => each.lookUp('slice', ({ body }) => body, false)
  expect((await slice(one)).entry).toBeNull()
  await fleet.pass(2)
  expect((await slice(two)).entry).toBeNull()
  await one.keep('slice', entryOf('logs'))
  await fleet.pass(2)
  expect(Buffer.from((await slice(two)).entry as Uint8Array).toString()).toBe('logs')
})

test('an answer that was requested before a reorg is not shared after it', async () => {
  const { fleet, one, two } = await fetching()
  await two.reorged()
  await fleet.pass()
  await one.keep('key', entryOf('old branch', 100))
  expect(await find(two, 'key')).toBe('miss')
})

test('a second call for a key keeps those that wait for the first', async () => {
  const { fleet, one, two } = await fetching()
  const found = find(two, 'key')
  await fleet.pass(5)
  await find(one, 'key')
  await one.keep('key', entryOf('answer'))
  expect(await found).toBe('answer')
})
