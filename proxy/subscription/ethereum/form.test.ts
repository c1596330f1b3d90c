// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import type { Topic } from '../subscriptions.ts'
import type { SubscribeWish } from '../form.ts'
import { ethereumForm } from './form.ts'

const a = '0x00000000000000000000000000000000000000Aa'
const b = '0x00000000000000000000000000000000000000bB'
const one = `0x${'0'.repeat(63)}1`
const two = `0x${'0'.repeat(62)}aB`

function wishFor(params: unknown): SubscribeWish {
  const wish = ethereumForm.read({ method: 'eth_subscribe', params, id: '7' })
  if (wish?.kind !== 'subscribe') throw new Error('not understood')
  return wish
}
const topicFor = (params: unknown): Topic => wishFor(params).topic

describe('identical requests share one topic', () => {
  const logs = (filter?: unknown) => ['logs', filter]
  const same: [string, unknown, unknown][] = [
    ['an address in another case', logs({ address: a }), logs({ address: a.toLowerCase() })],
    ['a single address in a list', logs({ address: a }), logs({ address: [a] })],
    ['another order and a repetition', logs({ address: [b, a, b] }), logs({ address: [a, b] })],
    [
      'another order of keys',
      logs({ topics: [one], address: a }),
      logs({ address: a, topics: [one] }),
    ],
    ['a topic in another case', logs({ topics: [two] }), logs({ topics: [two.toLowerCase()] })],
    ['a single topic in a list', logs({ topics: [[one]] }), logs({ topics: [one] })],
    [
      'alternatives in another order',
      logs({ topics: [[two, one, two]] }),
      logs({ topics: [[one, two]] }),
    ],
    ['null or an empty list for any', logs({ topics: [null, one] }), logs({ topics: [[], one] })],
    ['null among alternatives', logs({ topics: [[one, null]] }), logs({ topics: [null] })],
    ['no topics at all', logs({ address: a, topics: [] }), logs({ address: a })],
    ['null for an absent field', logs({ address: null, topics: null }), logs({})],
    ['no filter', ['logs'], logs({})],
    ['null for a filter', logs(null), logs({})],
    ['a range without a limit', logs({ fromBlock: 'latest', toBlock: null }), logs({})],
    [
      'the default range of the go-ethereum client',
      logs({ fromBlock: '0x0', toBlock: 'latest', address: [a], topics: null }),
      logs({ address: a }),
    ],
    ['parameters that are null', ['newHeads', null, null], ['newHeads']],
    [
      'full transactions, set to false',
      ['newPendingTransactions', false],
      ['newPendingTransactions'],
    ],
  ]
  test.each(same)('%s', (_, left, right) => {
    expect(topicFor(left).key).toBe(topicFor(right).key)
  })

  const other: [string, unknown, unknown][] = [
    ['another address', logs({ address: a }), logs({ address: b })],
    ['an address and none', logs({ address: a }), logs({})],
    ['a topic in another position', logs({ topics: [one] }), logs({ topics: [null, one] })],
    ['a position that must exist', logs({ topics: [one, null] }), logs({ topics: [one] })],
    ['heads and logs', ['newHeads'], ['logs']],
    ['full transactions', ['newPendingTransactions', true], ['newPendingTransactions']],
  ]
  test.each(other)('distinct topics: %s', (_, left, right) => {
    expect(topicFor(left).key).not.toBe(topicFor(right).key)
  })
})

test.each([
  ['all blocks', { fromBlock: '0x0', toBlock: 'latest' }, 'newHeads'],
  ['no range', { fromBlock: null, toBlock: null }, 'newHeads'],
  ['a first block', { fromBlock: '0x5' }, null],
  ['a last block', { fromBlock: '0x0', toBlock: '0x5' }, null],
])('a range of %s: %j', (_, filter, sequence) => {
  const topic = topicFor(['logs', filter])
  expect(topic.sequence).toBe(sequence)
  // Only the node can interpret a range.
  if (sequence === null) expect(topic.params).toEqual(['logs', filter])
})

const refused: [string, unknown, RegExp][] = [
  ['nothing', undefined, /the first parameter names/],
  ['a name that is not a string', [5], /the first parameter names/],
  ['a filter that is a list', ['logs', []], /the filter must be an object/],
  ['half an address', ['logs', { address: '0x12' }], /an address is 20 bytes/],
  ['a number for an address', ['logs', { address: [7] }], /an address is 20 bytes/],
  ['a short topic', ['logs', { topics: ['0x12'] }], /a topic is 32 bytes/],
  ['five topics', ['logs', { topics: [null, null, null, null, null] }], /at most 4 topics/],
  ['topics that are not a list', ['logs', { topics: one }], /"topics" must be a list/],
  ['a block by its hash', ['logs', { blockHash: one }], /has no "blockHash"/],
]
test.each(refused)('%s is refused with a reason', (_, params, why) => {
  expect(() => topicFor(params)).toThrow(why)
})

test('a canonical filter stays unchanged, and its order does not matter', () => {
  const address = fc.constantFrom(a, b, a.toLowerCase())
  const topic = fc.constantFrom(one, two, two.toLowerCase())
  const place = fc.oneof(fc.constant(null), topic, fc.array(fc.oneof(topic, fc.constant(null))))
  const filter = fc.record(
    {
      address: fc.oneof(fc.constant(null), address, fc.array(address)),
      topics: fc.oneof(fc.constant(null), fc.array(place, { maxLength: 4 })),
      fromBlock: fc.constantFrom(null, 'latest', '0x0'),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(filter, (sample) => {
      const once = topicFor(['logs', sample])
      const again = topicFor(once.params)
      expect(again.params).toEqual(once.params)
      expect(again.key).toBe(once.key)
      const turned = Object.fromEntries(Object.entries(sample).toReversed())
      const shuffled = Array.isArray(turned['address'])
        ? { ...turned, address: turned['address'].toReversed() }
        : turned
      expect(topicFor(['logs', shuffled]).key).toBe(once.key)
    }),
  )
})

test('client input never names metrics', () => {
  expect(topicFor(['newHeads'])).toMatchObject({
    sequence: 'newHeads',
    logFilter: undefined,
    name: 'newHeads',
  })
  expect(topicFor(['logs'])).toMatchObject({ sequence: 'newHeads', logFilter: {}, name: 'logs' })
  expect(topicFor(['syncing'])).toMatchObject({ sequence: null, name: 'syncing' })
  expect(topicFor(['alchemy_minedTransactions'])).toMatchObject({ sequence: null, name: 'other' })
})

test('a client gets events under its own id, around shared bytes', () => {
  const wish = wishFor(['newHeads'])
  const random = seededRandom(1)
  const id = ethereumForm.name(wish, random)
  const other = ethereumForm.name(wish, random)
  expect(id.handle).toMatch(/^0x[1-9a-f][0-9a-f]{30,31}$/)
  expect(other.handle).not.toBe(id.handle)
  expect(ethereumForm.subscribed(id)).toBe(`"${id.handle}"`)
  const { head, tail } = ethereumForm.envelope(wish, id)
  expect(JSON.parse(`${head.toString()}{"number":"0x1"}${tail.toString()}`)).toEqual({
    jsonrpc: '2.0',
    method: 'eth_subscription',
    params: { subscription: id.handle, result: { number: '0x1' } },
  })
  expect(
    ethereumForm.read({
      method: 'eth_unsubscribe',
      params: [id.handle.toUpperCase().replace('X', 'x')],
      id: '1',
    }),
  ).toEqual({ kind: 'unsubscribe', handle: id.handle })
})

test('other methods are ignored', () => {
  expect(ethereumForm.read({ method: 'eth_call', params: [], id: '1' })).toBeNull()
  expect(() => ethereumForm.read({ method: 'eth_unsubscribe', params: [], id: '1' })).toThrow(
    /the first parameter is the id/,
  )
})
