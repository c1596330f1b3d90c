// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readList, readObject } from './answers.ts'
import { readWatch } from './answers.ts'
import { MalformedAnswerError } from './errors.ts'

const type = { apiVersion: 'g/v1', kind: 'Thing' }
const named = { metadata: { name: 'a', resourceVersion: '6' } }
const page = { metadata: { resourceVersion: '5' }, items: [named] }

test('a page of a list is returned with the type of its items', () => {
  const item = { ...type, ...named }
  expect(readList('GET /x', page, type)).toEqual({ items: [item], resourceVersion: '5' })
  const more = { ...page, metadata: { resourceVersion: '5', continue: 'b' } }
  expect(readList('GET /x', more, type)).toMatchObject({ continue: 'b' })
  expect(readList('GET /x', { ...page, items: null }, type).items).toEqual([])
})

test.each<[string, unknown]>([
  ['nothing', null],
  ['an empty object', {}],
  ['a text', 'upstream connect error'],
  ["a gateway's error", { error: 'upstream connect error' }],
  ['a Status', { kind: 'Status', status: 'Failure', message: 'x', metadata: {} }],
  ['a list without a resource version', { metadata: {}, items: [] }],
  ['a list without items', { metadata: { resourceVersion: '5' } }],
  ['items that are not a list', { ...page, items: {} }],
  ['an item that is null', { ...page, items: [named, null] }],
  ['an item without a name', { ...page, items: [{ metadata: { name: '' } }] }],
])('%s with status 200 is not a list', (_name, answer) => {
  expect(() => readList('GET /x', answer, type)).toThrow(MalformedAnswerError)
  expect(() => readList('GET /x', answer, type)).toThrow(/^GET \/x: /)
})

test.each<[string, unknown]>([
  ['nothing', null],
  ['an empty object', {}],
  ['a text', 'ok'],
  ['a list', page],
  ['a name that is not a string', { metadata: { name: 5 } }],
])('%s is not an object', (_name, answer) => {
  expect(() => readObject('GET /x', answer)).toThrow(
    'GET /x: the answer is not an object with a name',
  )
})

describe('any JSON', () => {
  test('is read or refused as malformed', async () => {
    const anything = fc.oneof(fc.jsonValue(), fc.constant(page), fc.constant(named))
    await fc.assert(
      fc.asyncProperty(anything, async (answer) => {
        const line = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: answer })}\n`)
        const readers: readonly (() => Promise<unknown>)[] = [
          async () => readList('GET /x', answer, type),
          async () => readObject('GET /x', answer),
          () => readWatch('GET /x', [line] as never).next(),
        ]
        for (const read of readers)
          await read().catch((error: unknown) => {
            expect(error).toBeInstanceOf(MalformedAnswerError)
          })
      }),
    )
  })
})
