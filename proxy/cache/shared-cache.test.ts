// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, ServedCache } from '../store/grpc/testing/served-cache.ts'
import { patientClock } from '../clock/testing/patient-clock.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { SharedEntry } from './entry-codec.ts'
import { SharedCache } from './shared-cache.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'

const entry = (body: string, head = -1, reorgs = 0): SharedEntry => ({
  ...{ headers: [], trailers: [], upstream: 'a', latestBlock: 1, ageClass: 'finalized' },
  ...{ isEmpty: false, storedWallMs: 0, ttlMs: 60_000, head, reorgs },
  body: Buffer.from(body),
})

interface Replica {
  readonly store: SharedCache
  readonly figures: { failures: number; broken: number }
  readonly reorgs: () => number
  readonly find: (key: string, mayWait?: boolean) => Promise<unknown>
}

/** The cache of one replica. */
function replica(port: number, timeoutMs = 5_000): Replica {
  const keys = clientOf(port, timeoutMs)
  onTestFinished(() => {
    keys.close()
  })
  const figures = { failures: 0, broken: 0 }
  let reorgs = 0
  const store = new SharedCache({ keys, figures }, patientClock, 'ETH1 jsonrpc', () => {
    reorgs += 1
  })
  const find = async (key: string, mayWait = false) => {
    const found = await store.lookUp(key, (stored) => stored, mayWait)
    if (found.reorgs === null) return 'down'
    return found.entry && Buffer.from(found.entry.body as Uint8Array).toString()
  }
  return { store, figures, reorgs: () => reorgs, find }
}

const keyOf = (key: string) => `a:${hash('sha256', key, 'base64url')}`

test.each([
  ['short', 'x'],
  ['compressed', 'x'.repeat(100_000)],
])('a replica finds the entries of another one: %s', async (_, body) => {
  await using cache = await new ServedCache().start()
  const [one, two] = [replica(cache.port), replica(cache.port)]
  expect(await two.find('key')).toBeNull()
  await one.store.keep('key', entry(body))
  expect(await two.find('key')).toBe(body)
  expect(cache.store.get(keyOf('key')).value).toBeDefined()
})

test('one replica fetches the answer, and others wait for it', async () => {
  await using cache = await new ServedCache().start()
  const [one, two] = [replica(cache.port), replica(cache.port)]
  expect(await one.find('key', true)).toBeNull()
  const waiting = two.find('key', true)
  await one.store.keep('key', entry('answer'))
  expect(await waiting).toBe('answer')
  expect(await one.find('other', true)).toBeNull()
  await one.store.drop('other')
  expect(await two.find('other', true)).toBeNull()
  // A refresh without a cacheable answer deletes the previous entry.
  await one.store.drop('key')
  expect(await two.find('key', true)).toBeNull()
})

test('a replica that looked just before the answer was stored finds it without a request', async () => {
  const clock = new VirtualClock()
  const keys = new FakeKeys(clock)
  const create = () =>
    new SharedCache({ keys, figures: { failures: 0, broken: 0 } }, clock, '', () => {})
  const [one, two] = [create(), create()]
  expect(await one.lookUp('key', (stored) => stored, true)).toMatchObject({ entry: null })
  const claim = keys.claim.bind(keys)
  keys.claim = async (...lease) => {
    await one.keep('key', entry('answer'))
    return claim(...lease)
  }
  const found = two.lookUp('key', (stored) => stored, true)
  await clock.advance(100)
  expect(await found).toMatchObject({ entry: { body: Buffer.from('answer') } })
})

test('a reorg at one replica invalidates only entries near the head, for all replicas', async () => {
  await using cache = await new ServedCache().start()
  const [one, two] = [replica(cache.port), replica(cache.port)]
  await expect.poll(() => one.reorgs() + two.reorgs()).toBe(2)
  await one.store.keep('near', entry('near', 100))
  await one.store.keep('final', entry('final'))
  expect([await two.find('near'), await two.find('final')]).toEqual(['near', 'final'])
  await one.store.reorged()
  await expect.poll(() => two.reorgs()).toBe(2)
  expect([await two.find('near'), await two.find('final')]).toEqual([null, 'final'])
  await two.store.keep('near', entry('other', 101, 1))
  expect(await one.find('near')).toBe('other')
})

test.each(['', 'RPC0', 'RPC2', `RPC2${'x'.repeat(100)}`])(
  'bytes of another format version are a miss: %j',
  async (junk) => {
    await using cache = await new ServedCache().start()
    const { find, figures } = replica(cache.port)
    cache.store.set(keyOf('key'), Buffer.from(junk), 60_000)
    expect(await find('key')).toBeNull()
    expect(figures).toEqual({ failures: 0, broken: 1 })
  },
)

test.each([false, true])(
  'an entry under the name of another key is a miss: %s',
  async (isCopied) => {
    await using cache = await new ServedCache().start()
    const { find, figures, store } = replica(cache.port)
    await store.keep('key', entry('answer'))
    const { value } = cache.store.get(keyOf('key'))
    cache.store.set(keyOf(isCopied ? 'other' : 'key'), value!, 60_000)
    expect(await find(isCopied ? 'other' : 'key')).toBe(isCopied ? null : 'answer')
    expect(figures.broken).toBe(isCopied ? 1 : 0)
  },
)

test('without the store everything is a miss, and lookups pause for a while', async () => {
  const cache = await new ServedCache().start()
  const { find, figures, store } = replica(cache.port, 1_000)
  expect(await find('key')).toBeNull()
  await cache[Symbol.asyncDispose]()
  for (let each = 0; each < 20; each++) expect(await find('key', true)).toBe('down')
  await store.keep('key', entry('x'))
  await store.reorged()
  expect(figures.failures).toBe(1)
})

test('while the store hangs only one call per second waits; then it is used again', async () => {
  const clock = new VirtualClock()
  const keys = Object.assign(new FakeKeys(clock), { isDown: true, timeoutMs: 50 })
  const store = new SharedCache({ keys, figures: { failures: 0, broken: 0 } }, clock, '', () => {})
  const late: number[] = []
  for (let call = 0; call < 1_000; call++) {
    const startedMs = clock.nowMs()
    void store
      .lookUp('key', (stored) => stored, true)
      .then(() => clock.nowMs() > startedMs && late.push(startedMs))
    await clock.advance(10)
  }
  expect(late.filter((ms) => ms >= 50).length).toBeLessThanOrEqual(10)
  expect(late.length).toBeLessThanOrEqual(15)
  keys.isDown = false
  await clock.advance(1_000)
  for (let each = 0; each < 3; each++)
    expect(await store.lookUp('key', (stored) => stored, false)).toEqual({ entry: null, reorgs: 0 })
})
