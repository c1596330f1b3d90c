// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { compare, type WireAnswer } from './byte-equality.ts'

const answer: WireAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  bodies: [Buffer.from('{"id":1}')],
  trailers: { 'grpc-status': '0' },
}
type Side = 'node' | 'router'
const ways = { node: 'node', router: 'router' } as const

/** Compares one call with these answers per side. */
async function compareOne(say: (side: Side, time: number) => Partial<WireAnswer>) {
  let time = 0
  const send = async (side: Side) => Promise.resolve({ ...answer, ...say(side, time++) })
  return compare([{ label: 'a call', send }], ways, { withheld: ['x-clock'] })
}

test.each<[string, Partial<WireAnswer>]>([
  ['nothing', {}],
  [
    'headers that the router adds',
    { headers: { ...answer.headers, 'rpc-guid': 'a', 'rpc-retries': '0' } },
  ],
  [
    'headers of the connection',
    { headers: { ...answer.headers, date: 'now', connection: 'close' } },
  ],
  ['withheld headers', { headers: { ...answer.headers, 'x-clock': '12' } }],
])('an answer that differs in %s is equal', async (_what, routed) => {
  const found = await compareOne((side) => (side === 'router' ? routed : {}))
  expect(found).toEqual({ equal: 1, differences: [], restless: [] })
})

test.each<[string, Partial<WireAnswer>]>([
  ['the status', { status: 502 }],
  ['a byte', { bodies: [Buffer.from('{"id":2}')] }],
  ['white space', { bodies: [Buffer.from('{"id": 1}')] }],
  ['a byte outside UTF-8', { bodies: [Buffer.from([0xff])] }],
  ['the content type', { headers: { 'content-type': 'text/plain' } }],
  ['a missing header', { headers: {} }],
  ['an additional header', { headers: { ...answer.headers, 'x-more': '1' } }],
  ['a trailer', { trailers: { 'grpc-status': '1' } }],
  ['the number of messages', { bodies: [] }],
])('an answer that differs in %s is a difference', async (_what, routed) => {
  const found = await compareOne((side) => (side === 'router' ? routed : {}))
  expect(found.equal).toBe(0)
  expect(found.differences).toEqual([expect.stringContaining('a call')])
})

test('a node with volatile answers causes no difference, and is listed separately', async () => {
  const found = await compareOne((_side, time) => ({ bodies: [Buffer.from(String(time))] }))
  expect(found).toEqual({ equal: 0, differences: [], restless: ['a call'] })
})

test('an answer that changes during the comparison is compared again', async () => {
  const found = await compareOne((_side, time) => ({ status: time === 0 ? 200 : 201 }))
  expect(found).toEqual({ equal: 1, differences: [], restless: [] })
})
