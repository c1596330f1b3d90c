// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { encode } from '../upstream-sim/chains/protobuf.ts'
import { rawCall, valuesOf } from './raw-call.ts'
import { begin, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

/** A node of the chain at height 100, with a delay between its message and its status. */
function tallNode(statusAfterMs = 0): Manner {
  return (stream, headers) => {
    const answers: Readonly<Record<string, Buffer>> = {
      '/test.Tall/Name': encode({ 1: 'tall' }),
      '/test.Tall/Height': encode({ 1: '100' }),
      '/test.Tall/AtHeight': encode({ 1: 'data' }),
    }
    begin(stream)
    // The router would confirm an empty message with another node.
    stream.write(framed(answers[String(headers[':path'])] ?? encode({ 1: 'found' })))
    if (statusAfterMs === 0) stream.end()
    else setTimeout(() => stream.end(), statusAfterMs)
  }
}

test('a node with a late status is verified, and its height is known', async () => {
  await using own = await served([tallNode(50)], {}, { chainId: 'TALL' })
  expect(own.router.pool.hasEligible).toBe(true)
  expect(own.router.pool.tip).toBe(100)
})

describe('the height in the message decides which node is selected', () => {
  const urlSettings = { 'node-1': { addons: ['archive'] } }
  /** Field 1 as a varint. */
  const about = (height: number) => framed(Buffer.from([8, height]))
  const cases: [string, Buffer, readonly string[]][] = [
    ['an old height selects the archive', about(10), ['node-1', 'node-1']],
    ['a recent height may select any node', about(90), ['node-0', 'node-1']],
    // The router does not read a compressed message, so it may select any node.
    ['a compressed height is ignored', framed(Buffer.from([8, 10]), true), ['node-0', 'node-1']],
    ['two messages have no height', Buffer.concat([about(10), about(10)]), ['node-0', 'node-1']],
    ['a body without a message has no height', Buffer.alloc(0), ['node-0', 'node-1']],
  ]
  test.each(cases)('%s', async (_, body, expected) => {
    const chain = { chainId: 'TALL', urlSettings }
    await using own = await served([tallNode(), tallNode()], {}, chain)
    const requests: string[] = []
    for (let at = 0; at < 2; at++) {
      const { head } = await rawCall(own.router.port, '/test.Tall/AtHeight', [], body)
      requests.push(...valuesOf(head, 'rpc-provider-address'))
    }
    expect(requests.toSorted()).toEqual(expected)
  })
})
