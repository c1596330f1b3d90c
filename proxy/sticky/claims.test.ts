// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, ServedCache } from '../store/grpc/testing/served-cache.ts'
import { systemClock } from '../clock/clock.ts'
import { StoreError } from '../store/store-error.ts'
import { Sessions, type StickyOutcome } from './sessions.ts'

/** One replica's client of a cache service. */
async function replica(port: number, node: string, timeoutMs = 10_000) {
  const client = clientOf(port, timeoutMs)
  onTestFinished(() => {
    client.close()
  })
  const counts: Partial<Record<StickyOutcome, number>> = {}
  const sessions = new Sessions({
    ...{ clock: systemClock, keys: client, lifetimeMs: 60_000 },
    count: (outcome) => (counts[outcome] = (counts[outcome] ?? 0) + 1),
  })
  let isUp = false
  client.watch('sticky:', { message: () => {}, listening: (now) => (isUp = now) })
  const up = async (wanted: boolean) => expect.poll(() => isUp).toBe(wanted)
  await up(true)
  const find = async (key: string) =>
    sessions.find(key, (avoid) => (avoid === node ? `not ${node}` : node))
  return { sessions, counts, find, up }
}

test('the first choice wins, others adopt it, and memory then answers', async () => {
  await using cache = await new ServedCache().start()
  const [one, two] = [await replica(cache.port, 'a'), await replica(cache.port, 'b')]
  expect(await one.find('key')).toBe('a')
  expect(await two.find('key')).toBe('a')
  const requests = cache.calls.length
  expect(await two.find('key')).toBe('a')
  expect(cache.calls).toHaveLength(requests)
  expect([one.counts, two.counts]).toEqual([{ claimed: 1 }, { adopted: 1, local_hit: 1 }])
})

test('many concurrent first requests all get one node', async () => {
  await using cache = await new ServedCache().start()
  const replicas = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((node) => replica(cache.port, node)),
  )
  for (let round = 0; round < 20; round++) {
    const nodes = await Promise.all(
      Array.from({ length: 50 }, (_, each) => replicas[each % 5]!.find(`key ${round}`)),
    )
    expect(new Set(nodes).size).toBe(1)
  }
  const sum = (outcome: StickyOutcome) =>
    replicas.reduce((total, { counts }) => total + (counts[outcome] ?? 0), 0)
  expect(sum('claimed')).toBe(20)
  expect(sum('lost_race')).toBeGreaterThan(0)
})

test('a choice dropped by one replica is gone for all, and avoided; a newer one stays', async () => {
  await using cache = await new ServedCache().start()
  const [one, two] = [await replica(cache.port, 'a'), await replica(cache.port, 'b')]
  for (const each of [one, two]) expect(await each.find('key')).toBe('a')
  await two.sessions.drop('key', 'a')
  await expect.poll(() => one.sessions.size).toBe(0)
  expect(await one.find('key')).toBe('not a')
  await two.sessions.drop('key', 'a')
  expect(await two.find('key')).toBe('not a')
})

test('without the service sessions fail, and after a restart choices are stored again', async () => {
  const cache = await new ServedCache().start()
  const one = await replica(cache.port, 'a', 300)
  const two = await replica(cache.port, 'b', 10_000)
  expect(await one.find('key')).toBe('a')
  await cache[Symbol.asyncDispose]()
  await one.up(false)
  await expect(one.find('key')).rejects.toThrow(StoreError)
  const second = await new ServedCache().start(cache.port)
  onTestFinished(() => second[Symbol.asyncDispose]())
  await one.up(true)
  await two.up(true)
  expect(await one.find('key')).toBe('a')
  expect(await two.find('key')).toBe('a')
})

test('a service without room for claims fails sessions', async () => {
  await using cache = await new ServedCache(4_096).start()
  const one = await replica(cache.port, 'a')
  await expect(one.find('key')).rejects.toThrow('it has no memory left')
  expect(one.counts).toEqual({ error: 1 })
})
