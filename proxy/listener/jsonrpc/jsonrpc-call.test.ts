// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { Question } from '../../chain/types.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { systemClock } from '../../clock/clock.ts'
import { noDirectives } from '../../relay/call.ts'
import { anyInterface, sentText } from '../testing/listener-fixture.ts'
import { makeJsonRpcCall } from './jsonrpc-call.ts'
import { JsonRpcRequest } from './jsonrpc-request.ts'

function sent(text: string, impliedVersion: '1.0' | null = null) {
  const body = Buffer.from(text)
  const request = new JsonRpcRequest(body, { start: 0, end: body.length })
  const iface = { ...anyInterface({}), impliedVersion }
  const signal = new Cancellation()
  const origin = { directives: noDirectives, requestHeaders: [], internalPath: '', signal }
  const call = makeJsonRpcCall(request, origin, 'guid', { iface, clock: systemClock })
  const [, id] = /"id":(.*?),("error":null,)?"result"/.exec(String(call.reader.write(1))) ?? []
  return [sentText(call), id]
}

test.each([
  [{ known: true }, true],
  [{ known: true, kind: 'write' }, false],
  [{ known: false, looksLikeRead: true }, true],
  // It may change a node, and would fail with the request of the others.
  [{ known: false, looksLikeRead: false }, false],
] as const)('an item with %j joins others in one request: %s', (method, isJoined) => {
  const body = Buffer.from('{"id":1,"method":"m"}')
  const request = new JsonRpcRequest(body, { start: 0, end: body.length })
  const any = anyInterface({})
  const iface = {
    ...any,
    classify: (question: Question) => ({ ...any.classify(question), ...method }),
  }
  const signal = new Cancellation()
  const origin = { directives: noDirectives, requestHeaders: [], internalPath: '', signal }
  const serving = { iface, clock: systemClock }
  const call = makeJsonRpcCall(request, origin, 'guid', serving, { size: 2 })
  expect(call.request.batch !== undefined).toBe(isJoined)
})

describe('the bytes for the upstream', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":[1e2, 9007199254740993]}', '1'],
    ['{ "method" : "m" , "id" : -42 }', '-42'],
    ['{"id":9007199254740991,"method":"m"}', '9007199254740991'],
    ['{"id":"","method":"m"}', '""'],
    ['{"id":"a-1:b/{2}~ ","method":"m"}', '"a-1:b/{2}~ "'],
    [`{"id":"${'x'.repeat(64)}","method":"m"}`, `"${'x'.repeat(64)}"`],
  ])("are the client's own: %s", (text, id) => {
    expect(sent(text)).toEqual([text, id])
  })

  test.each([
    ['{"id":1.0,"method":"m"}', '{"id":1,"method":"m"}'],
    ['{"id":1e2,"method":"m"}', '{"id":1,"method":"m"}'],
    ['{"method":"m","id": 1152921504606846976 }', '{"id":1,"method":"m"}'],
    ['{"id":-0,"method":"m"}', '{"id":1,"method":"m"}'],
    ['{"id":9007199254740993,"method":"m"}', '{"id":1,"method":"m"}'],
    [`{"id":"${'x'.repeat(65)}","method":"m"}`, '{"id":1,"method":"m"}'],
    [`{"id":"${'x'.repeat(3e6)}","method":"m"}`, '{"id":1,"method":"m"}'],
    ['{"id":"a\\u0062","method":"m"}', '{"id":1,"method":"m"}'],
    ['{"id":"ä","method":"m"}', '{"id":1,"method":"m"}'],
    ['{"id":"<a&b>","method":"m"}', '{"id":1,"method":"m"}'],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', '{"jsonrpc":"2.0","id":1,"method":"m"}'],
    ['{"jsonrpc":"2.0","method":"m"}', '{"jsonrpc":"2.0","id":1,"method":"m"}'],
    ['{"method":"m"}', '{"id":1,"method":"m"}'],
  ])("have the router's id when a node may not return the client's: %s", (text, bytes) => {
    expect(sent(text)).toEqual([bytes, '1'])
  })

  test.each([
    ['{"id":7,"method":"m"}', '{"jsonrpc":"1.0","id":7,"method":"m"}', '7'],
    ['{ "method":"m"}', '{"jsonrpc":"1.0","id":1,"method":"m"}', '1'],
    ['{"jsonrpc":"2.0","id":7,"method":"m"}', '{"jsonrpc":"2.0","id":7,"method":"m"}', '7'],
    ['{"jsonrpc":"1.0","id":7,"method":"m"}', '{"jsonrpc":"1.0","id":7,"method":"m"}', '7'],
  ])('have a version when the chain requires it: %s', (text, bytes, id) => {
    expect(sent(text, '1.0')).toEqual([bytes, id])
  })
})
