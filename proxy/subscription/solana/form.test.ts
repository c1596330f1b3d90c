// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import type { SubscribeWish } from '../form.ts'
import { solanaForm } from './form.ts'

const key = 'CM78CPUeXjn8o3yroDHxUtKsZZgoy4GPkPPXfouKNH12'

function wishFor(method: string, params?: unknown): SubscribeWish {
  const wish = solanaForm.read({ method, params, id: '7' })
  if (wish?.kind !== 'subscribe') throw new Error('not understood')
  return wish
}
const keyFor = (method: string, params?: unknown) => wishFor(method, params).topic.key

describe('identical requests share one topic', () => {
  const same: [string, string, unknown, unknown][] = [
    ['no params', 'slotSubscribe', undefined, []],
    ['null for params', 'rootSubscribe', null, []],
    [
      'another order of keys',
      'accountSubscribe',
      [key, { encoding: 'base64', commitment: 'confirmed' }],
      [key, { commitment: 'confirmed', encoding: 'base64' }],
    ],
  ]
  test.each(same)('%s', (_, method, left, right) => {
    expect(keyFor(method, left)).toBe(keyFor(method, right))
  })

  const other: [string, unknown, unknown][] = [
    ['another commitment', [key, { commitment: 'confirmed' }], [key]],
    ['another account', [key], ['11111111111111111111111111111111']],
    ['another encoding', [key, { encoding: 'base64' }], [key, { encoding: 'jsonParsed' }]],
  ]
  test.each(other)('distinct topics: %s', (_, left, right) => {
    expect(keyFor('accountSubscribe', left)).not.toBe(keyFor('accountSubscribe', right))
  })

  test('distinct topics: another method', () => {
    expect(keyFor('accountSubscribe', [key])).not.toBe(keyFor('programSubscribe', [key]))
  })
})

test('topics with backfill are distinct from the others', () => {
  expect(wishFor('slotSubscribe').topic).toMatchObject({ sequence: 'slot', name: 'slot' })
  expect(wishFor('rootSubscribe').topic).toMatchObject({ sequence: null, name: 'root' })
  expect(wishFor('accountSubscribe', [key]).topic).toMatchObject({
    sequence: null,
    name: 'account',
  })
})

test('a client gets events under its own id', () => {
  const wish = wishFor('slotSubscribe')
  const id = solanaForm.name(wish, seededRandom(3))
  expect(Number.isSafeInteger(Number(id.json))).toBe(true)
  const { head, tail } = solanaForm.envelope(wish, id)
  expect(JSON.parse(`${head.toString()}{"slot":5}${tail.toString()}`)).toEqual({
    jsonrpc: '2.0',
    method: 'slotNotification',
    params: { result: { slot: 5 }, subscription: Number(id.json) },
  })
  expect(
    solanaForm.read({ method: 'slotUnsubscribe', params: [Number(id.json)], id: '2' }),
  ).toEqual({
    kind: 'unsubscribe',
    handle: id.handle,
  })
})

test('an id of another kind of topic unsubscribes nothing', () => {
  const id = solanaForm.name(wishFor('slotSubscribe'), seededRandom(3))
  const wish = solanaForm.read({ method: 'rootUnsubscribe', params: [Number(id.json)], id: '2' })
  expect(wish).not.toMatchObject({ handle: id.handle })
})

const none = ['getSlot', 'Subscribe', 'nothingSubscribe', 'toStringSubscribe', 'slotSubscribed']
test.each(none)('%s is ignored', (method) => {
  expect(solanaForm.read({ method, params: [], id: '1' })).toBeNull()
})

test.each([[[]], [['5']], [[1.5]], [undefined]])('%j is not an id', (params) => {
  expect(() => solanaForm.read({ method: 'slotUnsubscribe', params, id: '1' })).toThrow(
    /the first parameter is the id/,
  )
})

test('a signature has events until it is settled', () => {
  const { isLast } = wishFor('signatureSubscribe', ['x']).topic
  expect(isLast?.(Buffer.from('{"context":{"slot":5},"value":"receivedSignature"}'))).toBe(false)
  expect(isLast?.(Buffer.from('{"context":{"slot":5},"value":{"err":null}}'))).toBe(true)
})
