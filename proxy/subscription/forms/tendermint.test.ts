// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../clock/random.ts'
import type { SubscribeWish } from '../form.ts'
import { readQuery, writeQuery } from './tendermint-query.ts'
import { tendermintForm } from './tendermint.ts'

function wishFor(params: unknown): SubscribeWish {
  const wish = tendermintForm.read({ method: 'subscribe', params, id: '7' })
  if (wish?.kind !== 'subscribe') throw new Error('not understood')
  return wish
}
const topicFor = (query: string) => wishFor({ query }).topic

describe('a topic is one for all who ask the same', () => {
  const same: [string, string, string][] = [
    ['white space', " tm.event  =  'NewBlock' ", "tm.event='NewBlock'"],
    ['another order', "tx.height>5 AND tm.event='Tx'", "tm.event = 'Tx' AND tx.height > 5"],
    ['a repetition', "tm.event='Tx' AND tm.event='Tx'", "tm.event='Tx'"],
    ['white space at EXISTS', "tm.event='Tx' AND a.b  EXISTS", "a.b EXISTS AND tm.event='Tx'"],
  ]
  test.each(same)('%s', (_, left, right) => {
    expect(topicFor(left).key).toBe(topicFor(right).key)
  })

  const other: [string, string, string][] = [
    ['a value in another case', "a.b='X'", "a.b='x'"],
    ['white space in a value', "a.b='x y'", "a.b='x  y'"],
    ['another comparison', 'tx.height>5', 'tx.height>=5'],
    ['AND within a value', "a.b='x AND c=1'", "c=1 AND a.b='x'"],
  ]
  test.each(other)('but not: %s', (_, left, right) => {
    expect(topicFor(left).key).not.toBe(topicFor(right).key)
  })
})

const kinds: [string, string, string][] = [
  ["tm.event='NewBlock'", 'blocks', 'NewBlock'],
  ["tm.event='NewBlockHeader'", 'headers', 'NewBlockHeader'],
  ["tm.event='Tx'", 'transactions', 'Tx'],
  ["tm.event='Tx' AND transfer.recipient='cosmos1x'", 'transactions', 'Tx'],
  ["tm.event='NewBlock' AND block.height>5", 'live', 'NewBlock'],
  ["tm.event='Vote'", 'live', 'Vote'],
  ["tm.event='Surprise'", 'live', 'other'],
  ["transfer.recipient='cosmos1x'", 'live', 'other'],
  ["tm.event='NewBlock' AND tm.event='Tx'", 'live', 'other'],
  ["tm.event='NewBlock' OR x=1", 'live', 'other'],
]
test.each(kinds)('%s is of kind %s', (query, kind, name) => {
  expect(topicFor(query)).toMatchObject({ kind, name })
})

const refused = [
  "tm.event='NewBlock",
  'x',
  'x=',
  "a='b'AND c='d'",
  "a='b' ANDc='d'",
  'a=1 AND',
  "a='b' c='d'",
]
test.each(refused)('%s is no query: a node will say so', (query) => {
  expect(readQuery(query)).toBeNull()
  expect(topicFor(query)).toMatchObject({ kind: 'live', key: query, params: { query } })
})

test('what is canonical stays as it is', () => {
  const value = fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9 .]{0,8}$/).map((text) => `'${text}'`),
    fc.nat().map(String),
    fc.constant('TIME 2026-01-01T00:00:00Z'),
  )
  const space = fc.constantFrom('', ' ', '  ')
  const condition = fc
    .tuple(
      fc.constantFrom('tm.event', 'a.b', 'tx.height'),
      space,
      fc.constantFrom('=', '<', '<=', '>', '>=', ' CONTAINS '),
      space,
      value,
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 4 }), (conditions) => {
      const read = readQuery(conditions.join(' AND '))
      expect(read).not.toBeNull()
      const text = writeQuery(read ?? [])
      expect(readQuery(text)).toEqual(read)
      expect(writeQuery(readQuery(conditions.toReversed().join('  AND ')) ?? [])).toBe(text)
    }),
  )
})

test('events are answers to the request, and repeat the query as the client wrote it', () => {
  const wish = wishFor(["tm.event = 'NewBlock'"])
  const id = tendermintForm.name(wish, seededRandom(1))
  expect(tendermintForm.subscribed(id)).toBe('{}')
  const { head, tail } = tendermintForm.envelope(wish, id)
  const event = Buffer.from(`{"query":"tm.event='NewBlock'","data":{"type":"x"},"events":{}}`)
  const shared = wish.topic.shared?.(event) ?? event
  expect(`${head.toString()}${Buffer.from(shared).toString()}${tail.toString()}`).toBe(
    `{"jsonrpc":"2.0","id":7,"result":{"query":"tm.event = 'NewBlock'","data":{"type":"x"},"events":{}}}`,
  )
})

test('a query is given up by its name, all of them together', () => {
  const { handle } = tendermintForm.name(
    wishFor({ query: "tm.event='Tx' AND x=1" }),
    seededRandom(1),
  )
  const query = "x = 1 AND tm.event = 'Tx'"
  expect(tendermintForm.read({ method: 'unsubscribe', params: { query }, id: '9' })).toEqual({
    kind: 'unsubscribe',
    handle,
  })
  expect(tendermintForm.read({ method: 'unsubscribe_all', params: {}, id: '9' })).toEqual({
    kind: 'unsubscribe-all',
  })
  expect(tendermintForm.read({ method: 'status', params: {}, id: '9' })).toBeNull()
})

test.each([[{}], [[]], [undefined], [{ query: '' }], [{ query: 5 }]])(
  '%j names no query',
  (params) => {
    expect(() => wishFor(params)).toThrow(/"query" must be a text/)
  },
)
