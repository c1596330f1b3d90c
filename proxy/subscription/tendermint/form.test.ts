// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import type { SubscribeWish } from '../form.ts'
import { tendermintForm } from './form.ts'

function wishFor(params: unknown): SubscribeWish {
  const wish = tendermintForm.read({ method: 'subscribe', params, id: '7' })
  if (wish?.kind !== 'subscribe') throw new Error('not understood')
  return wish
}
const topicFor = (query: string) => wishFor({ query }).topic

describe('identical requests share one topic', () => {
  const same: [string, string, string][] = [
    ['white space', " tm.event  =  'NewBlock' ", "tm.event='NewBlock'"],
    ['white space between conditions', "tm.event='Tx'  AND a>5", "tm.event = 'Tx' AND a > 5"],
    ['white space at EXISTS', "tm.event='Tx' AND a.b  EXISTS", "tm.event='Tx' AND a.b EXISTS"],
  ]
  test.each(same)('%s', (_, left, right) => {
    expect(topicFor(left).key).toBe(topicFor(right).key)
  })

  const other: [string, string, string][] = [
    ['a value in another case', "a.b='X'", "a.b='x'"],
    ['white space in a value', "a.b='x y'", "a.b='x  y'"],
    ['another comparison', 'tx.height>5', 'tx.height>=5'],
    ['white space around an operator in a value', "a.b='x = 1'", "a.b='x=1'"],
  ]
  test.each(other)('distinct topics: %s', (_, left, right) => {
    expect(topicFor(left).key).not.toBe(topicFor(right).key)
  })
})

const sequences: [string, string | null, string][] = [
  ["tm.event='NewBlock'", 'NewBlock', 'NewBlock'],
  ["tm.event='NewBlockHeader'", 'NewBlockHeader', 'NewBlockHeader'],
  ["tm.event='Tx'", null, 'Tx'],
  ["tm.event='Tx' AND transfer.recipient='cosmos1x'", null, 'Tx'],
  ["tm.event='NewBlock' AND block.height>5", null, 'NewBlock'],
  ["tm.event='Vote'", null, 'Vote'],
  ["tm.event='Surprise'", null, 'other'],
  ["transfer.recipient='cosmos1x'", null, 'other'],
  ["transfer.recipient='cosmos1x' AND tm.event='Tx'", null, 'Tx'],
  ['tm.event=5', null, 'other'],
  ["tm.event CONTAINS 'Tx'", null, 'other'],
]
test.each(sequences)('%s belongs to the sequence %s', (query, sequence, name) => {
  expect(topicFor(query)).toMatchObject({ sequence, name })
})

test('a query goes to the node as the client wrote it', () => {
  const query = "tm.event = 'Tx' AND  transfer.amount > 5"
  const { params, unsubscribe } = topicFor(query)
  expect(params).toEqual({ query })
  expect(unsubscribe({})).toEqual({ method: 'unsubscribe', params: { query } })
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

test('a query unsubscribes by its text, and one request ends all of them', () => {
  const { handle } = tendermintForm.name(
    wishFor({ query: "tm.event='Tx' AND x=1" }),
    seededRandom(1),
  )
  const query = "tm.event = 'Tx' AND x = 1"
  expect(tendermintForm.read({ method: 'unsubscribe', params: { query }, id: '9' })).toEqual({
    kind: 'unsubscribe',
    handle,
  })
  expect(tendermintForm.read({ method: 'unsubscribe_all', params: {}, id: '9' })).toEqual({
    kind: 'unsubscribe',
    handle: null,
  })
  expect(tendermintForm.read({ method: 'status', params: {}, id: '9' })).toBeNull()
})

test.each([[{}], [[]], [undefined], [{ query: 5 }]])('%j has no query', (params) => {
  expect(() => wishFor(params)).toThrow(/"query" must be a string/)
})
