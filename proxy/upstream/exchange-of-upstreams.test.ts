// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import type { NodeUrlConfig, UpstreamConfig } from '../config/types.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { chain, PoolFixture } from './testing/pool-fixture.ts'

const config = (name: string, url: Partial<NodeUrlConfig> = {}): UpstreamConfig => ({
  name,
  tier: 'primary',
  chainId: chain.id,
  apiInterface: 'jsonrpc',
  nodeUrls: [nodeUrlConfig(`http://${name}.test`, url)],
})

const key = (value: string) => ({ authHeaders: new Map([['x-key', new Secret(value)]]) })

test.each<[string, UpstreamConfig, boolean]>([
  ['in nothing', config('a', key('one')), true],
  ['in its key, which is masked', config('a', key('two')), false],
  ['in its URL', { ...config('a'), nodeUrls: [nodeUrlConfig('http://b.test', key('one'))] }, false],
  ['in its add-ons', config('a', { ...key('one'), addons: ['archive'] }), false],
  ['in its tier', { ...config('a', key('one')), tier: 'backup' }, false],
  ['in its name', { ...config('a', key('one')), name: 'b' }, false],
])('an upstream that differs %s is reused: %s', (_, next, isSame) => {
  const { pool } = new PoolFixture('a', () => key('one'))
  const [before] = pool.upstreams
  const { upstreams, added } = pool.prepare([next])
  expect(upstreams[0] === before).toBe(isSame)
  expect(added).toEqual(isSame ? [] : upstreams)
})

test('a prepared change has no effect before its commit', () => {
  const fixture = new PoolFixture('ab')
  const { pool } = fixture
  const change = pool.prepare([config('b'), config('c')])
  expect(fixture.chosen()).toBe('ab')
  expect(pool.upstreams[0]?.removal.signal.aborted).toBe(false)
  for (const each of change.added) {
    for (const url of each.urls) url.verified = true
    each.availability.verified()
  }
  expect(fixture.chosen()).toBe('ab')
  const [a, b] = pool.upstreams
  pool.commit(change)
  expect(fixture.chosen()).toBe('bc')
  expect(pool.upstreams.indexOf(b!)).toBe(0)
  expect(a?.removal.signal.aborted).toBe(true)
  expect(b?.removal.signal.aborted).toBe(false)
})

test('reused upstreams keep head, state and order, and the tip follows the current upstreams', () => {
  const fixture = new PoolFixture('abc')
  const { pool } = fixture
  fixture.sees('a', 100)
  fixture.sees('b', 100)
  fixture.sees('c', 100)
  fixture.disable('b')
  expect(fixture.turns(2)).toBe('ac')
  pool.commit(pool.prepare([config('a'), config('b')]))
  expect(pool.tip).toBe(100)
  expect(fixture.upstream('b').availability.standing).toBe('disabled')
  expect(fixture.upstream('a').latest?.block).toBe(100)
  expect(pool.snapshot().upstreams.map(({ name }) => name)).toEqual(['a', 'b'])
  pool.commit(pool.prepare([config('b')]))
  expect(pool.tip).toBe(null)
})

test('the requests of a day outlast a change of the config, also of the key', () => {
  const perDay = (value: number, more: Partial<NodeUrlConfig> = {}) => {
    return { limits: { perSecond: null, perDay: value, concurrent: null }, ...more }
  }
  const { pool, clock } = new PoolFixture('a', () => perDay(2))
  const limitOf = () => pool.upstreams[0]!.urls[0]!.limit
  limitOf()!.begin()
  limitOf()!.begin()
  expect(pool.upstreams[0]!.isDayUsed).toBe(true)
  pool.commit(pool.prepare([config('a', perDay(3, key('two')))]))
  expect([limitOf()!.sentToday, limitOf()!.waitMs]).toEqual([2, 0])
  limitOf()!.begin()
  expect(limitOf()!.waitMs).toBe(24 * 3_600_000 - (clock.wallMs() % (24 * 3_600_000)))
  pool.commit(pool.prepare([config('b', perDay(3))]))
  expect(limitOf()!.sentToday).toBe(0)
})

test('only current upstreams count as archive nodes', () => {
  const { pool } = new PoolFixture('a')
  const old = { kind: 'tag', tag: 'earliest' } as const
  expect(pool.pick.wantsArchive(old)).toBe(false)
  pool.commit(pool.prepare([config('a'), config('b', { addons: ['archive'] })]))
  expect(pool.pick.wantsArchive(old)).toBe(true)
  pool.commit(pool.prepare([config('a')]))
  expect(pool.pick.wantsArchive(old)).toBe(false)
})
