// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../clock/random.ts'
import { RelayError } from '../../relay/errors.ts'
import type { SubscribeWish } from '../form.ts'
import { readQuery, writeQuery } from '../chains/tendermint-query.ts'
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
    ['what follows a quote that is not closed', "a='b' ' AND c=1", "a='b'"],
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
  ['tm.event=5', 'live', 'other'],
  ["tm.event CONTAINS 'Tx'", 'live', 'other'],
]
test.each(kinds)('%s is of kind %s', (query, kind, name) => {
  expect(topicFor(query)).toMatchObject({ kind, name })
})

const long = (bytes: number) => `a='${'x'.repeat(bytes - 4)}'`
const taken = [
  "tm.event='Tx'AND tx.height>0",
  "a='b'AND c='d'",
  'a>5AND b>6',
  'a>5.',
  'a>007',
  'a=TIME 2020-02-29T1:00:00+24:60',
  'a>TIME 2020-01-01T00:00:00ZAND b EXISTS',
  'a=DATE 2020-02-29',
  'TIME=5',
  "TIME\tCONTAINS 'x' AND DATE\nEXISTS",
  'a CONTAINS\'it is "x"\'',
  'transfer EXISTS',
  '_a-b.c_d. EXISTS',
  "\ta\n=\r'b'\v",
  "a='b'' AND c=5",
  "a EXISTS '",
  long(512),
]
test.each(taken)('%j is a query', (query) => {
  const { conditions } = readQuery(query)
  expect(readQuery(writeQuery(conditions)).conditions).toEqual(conditions)
})

const refused: [string, RegExp][] = [
  ['', /it ends where there must be a name/],
  ['  ', /it ends/],
  ["tm.event='NewBlock", /the quote at 9 is not closed/],
  ['x', /it ends where there must be one of = < <=/],
  ['x=', /it ends where there must be a number/],
  ["a='b' ANDc='d'", /at 6 stands "ANDc" where there must be AND/],
  ['a=1 AND', /it ends where there must be a name/],
  ["a='b' c='d'", /where there must be AND/],
  ["tm.event='NewBlock' OR x=1", /at 20 stands "OR"/],
  ["tx.height > '5'", /at 12 stands "5" where there must be a number/],
  ['a = -5', /at 4 nothing can begin with "-"/],
  ['a = 1.2.3', /at 7 nothing can begin with "."/],
  ['a = 5abc', /at 5 stands "abc"/],
  ['tx.height>.5', /at 10 nothing can begin with "."/],
  ["5a='b'", /at 0 stands "5"/],
  ['a > TIME yesterday', /the TIME at 4 is ""/],
  ['a > TIME  2020-01-01T00:00:00Z', /the TIME at 4/],
  ['a > TIME 2020-01-01T00:00:00.5Z', /the TIME at 4/],
  ['a > TIME 1899-12-31T00:00:00Z', /from 1900 to 2999/],
  ['a > TIME', /at 4 stands "TIME"/],
  ['a = DATE 2020-13-45', /the DATE at 4 is "2020-13-45"/],
  ['a = DATE 2021-02-29', /the DATE at 4/],
  ['a = DATE 3000-01-01', /from 1900 to 2999/],
  ['a.b CONTAINS 5', /at 13 stands "5" where there must be a text/],
  ['a.b CONTAINS', /it ends/],
  ['a exists', /at 2 stands "exists"/],
  ['(a=1)', /at 0 nothing can begin with "\("/],
  ['a/b=1', /at 1 nothing can begin with "\/"/],
  ['a="b"', /nothing can begin with "\\""/],
  ['AND=1', /at 0 stands "AND"/],
  [long(513), /it has 513 bytes, and may have 512 at most/],
  [`a='${'é'.repeat(255)}'`, /it has 514 bytes/],
]
test.each(refused)('%j is refused as a node does', (query, why) => {
  for (const method of ['subscribe', 'unsubscribe'])
    try {
      tendermintForm.read({ method, params: { query }, id: '7' })
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ kind: { jsonRpcCode: -32603 } })
      expect((error as Error).message).toMatch(why)
    }
})

const uncertain = ["größe.x='5'", "é EXISTS AND tm.event='Tx'", "a='\ufffd'", "a CONTAINS '\ud800'"]
test.each(uncertain)('%j is left to the node', (query) => {
  expect(topicFor(`${query} AND tm.event='Tx'`).kind).toBe('live')
})

test('a query that would be too long in our spelling is asked for in the client’s', () => {
  const many = Array.from({ length: 55 }, (_, at) => `a>${100 + at}`).join('AND ')
  expect(Buffer.byteLength(many)).toBeLessThanOrEqual(512)
  expect(topicFor(many).key.length).toBeGreaterThan(512)
  expect(topicFor(many).params).toEqual({ query: many })
})

const spaces = fc.stringMatching(/^[ \t\n]{0,2}$/)
const operand = fc.oneof(
  fc.stringMatching(/^[^'\ufffd]{0,8}$/).map((each) => `'${each}'`),
  fc.stringMatching(/^[0-9]{1,5}(\.[0-9]{0,3})?$/),
  fc
    .date({ min: new Date('1900-01-01'), max: new Date('2999-12-31'), noInvalidDate: true })
    .map((each) => `TIME ${each.toISOString().slice(0, 19)}Z`),
  fc.constant('DATE 2026-01-31'),
)
const tag = fc.constantFrom('tm.event', 'a.b', 'tx.height', 'transfer', 'TIMES', '_.')
const condition = fc
  .tuple(tag, spaces, fc.constantFrom('=', '<', '<=', '>', '>='), spaces, operand, spaces)
  .filter(([, , operator, , value]) => operator === '=' || !value.startsWith("'"))
  .map((parts) => parts.join(''))

test('what is canonical stays as it is, whatever the order and the spaces', () => {
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 4 }), (conditions) => {
      const query = writeQuery(readQuery(conditions.join(' AND ')).conditions)
      expect(writeQuery(readQuery(query).conditions)).toBe(query)
      expect(writeQuery(readQuery(conditions.toReversed().join(' AND\n')).conditions)).toBe(query)
    }),
  )
})

test('whatever is written, it is read or refused', () => {
  const words = ['a.b', '=', '>', 'AND', "'x'", '5', 'TIME ', 'EXISTS', ' ', 'é', "'", '\u2003']
  const odd = fc.oneof(fc.constantFrom('\ud800', '\0', '😀'), fc.string())
  const part = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, odd)
  const text = fc.array(part).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (query) => {
      try {
        expect(topicFor(query).key).not.toBe('')
      } catch (error) {
        expect(error).toBeInstanceOf(RelayError)
      }
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

test.each([[{}], [[]], [undefined], [{ query: 5 }]])('%j names no query', (params) => {
  expect(() => wishFor(params)).toThrow(/"query" must be a text/)
})
