// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { JsonRpcReplyReader } from './jsonrpc-reply-reader.ts'
import { reply } from '../testing/listener-fixture.ts'

function read(text: string, { id = '1', status = 200 } = {}) {
  const own = Buffer.from(id === 'absent' ? 'null' : id)
  const reader = new JsonRpcReplyReader(own, own)
  const { incoming } = reply(text, { status })
  const content = reader.read(incoming)
  const bytes = reader.bodyOf(incoming) as Uint8Array
  return { content, text: Buffer.from(bytes).toString() }
}

describe('an answer that is a result', () => {
  test.each([
    ['in the usual form', '{"jsonrpc":"2.0","id":1,"result":"0x1"}'],
    ['without a version', '{"id":1,"result":1}'],
    ['that is null', '{"jsonrpc":"2.0","id":1,"result":null}'],
    ['with white space around', '\n {"id" : 1 , "result" : [ ] } \r\n'],
    ['with a null error beside it', '{"result":5,"error":null,"id":1}'],
    ['that is null, with a null error', '{"result":null,"error":null,"id":1}'],
    ['with unknown members', '{"id":1,"result":1,"usage":{"error":1,"id":2}}'],
    ['with an error inside', '{"id":1,"result":{"error":{"code":1},"id":7}}'],
  ])('%s goes through as it is', (_, text) => {
    expect(read(text)).toMatchObject({ content: { kind: 'result' }, text })
  })

  test.each([
    ['1.0', '{"id":1,"result":1}', '{"id":1.0,"result":1}'],
    ['1', '{"id": 1.0 ,"result":1}', '{"id": 1 ,"result":1}'],
    ['1e2', '{"result":1,"id":100}', '{"result":1,"id":1e2}'],
    ['"\\u0061"', '{"id":"a","result":1}', '{"id":"\\u0061","result":1}'],
    ['"é"', '{"id":"\\u00e9","result":1}', '{"id":"é","result":1}'],
    [
      '1152921504606846977',
      '{"id":1152921504606846976,"result":1}',
      '{"id":1152921504606846977,"result":1}',
    ],
    ['absent', '{"result":1}', '{"id":null,"result":1}'],
  ])(
    'and spells the id %s in its own way gets the spelling of the client',
    (id, text, expected) => {
      expect(read(text, { id })).toMatchObject({ content: { kind: 'result' }, text: expected })
    },
  )
})

describe('the reader also handles', () => {
  test.each(['1', '"x"'])('the result itself, where it is asked for, under the id %s', (id) => {
    const body = Buffer.from(`{"id":${id}, "error":null, "result" : {"a":1} }`)
    const incoming = { status: 200, headers: [], body, trailers: () => [] }
    const content = new JsonRpcReplyReader(Buffer.from(id), Buffer.from('7')).read(incoming, true)
    expect(content).toEqual({ kind: 'result', inForm: true, parsed: { a: 1 } })
  })

  test('bytes that are not UTF-8, as malformed', () => {
    const body = Buffer.from('{"id":1,"result":"\xff"}', 'latin1')
    const own = Buffer.from('1')
    const incoming = { status: 200, headers: [], body, trailers: () => [] }
    expect(new JsonRpcReplyReader(own, own).read(incoming)).toEqual({
      kind: 'malformed',
      why: 'bytes that are not UTF-8',
    })
  })

  test("a router answer, written like an upstream's", () => {
    const reader = new JsonRpcReplyReader(Buffer.from('7'), Buffer.from('7.0'))
    const body = reader.write('0xab')
    const incoming = { status: 200, headers: [], body, trailers: () => [] }
    expect(Buffer.from(reader.bodyOf(incoming) as Uint8Array).toString()).toBe(
      '{"jsonrpc":"2.0","id":7.0,"result":"0xab"}',
    )
  })

  test('a router answer of version 1.0, with a null error', () => {
    const reader = new JsonRpcReplyReader(Buffer.from('7'), Buffer.from('7'), true)
    const body = reader.write('ab')
    expect(Buffer.from(body).toString()).toBe('{"id":7,"error":null,"result":"ab"}')
    const incoming = { status: 200, headers: [], body, trailers: () => [] }
    expect(reader.read(incoming)).toMatchObject({ kind: 'result' })
  })
})

describe("an answer that is the node's error", () => {
  test.each([
    [
      'the usual',
      '{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"execution reverted","data":"0x"}}',
      3,
      'execution reverted',
    ],
    [
      'of version 1.0',
      '{"result":null,"error":{"code":-8,"message":"no block"},"id":1}',
      -8,
      'no block',
    ],
    [
      'with the reason in its data',
      '{"id":1,"error":{"code":-32603,"message":"Internal error","data":"tx (AB) not found"}}',
      -32603,
      'Internal error: tx (AB) not found',
    ],
    [
      'with the cause in its data',
      '{"id":1,"error":{"code":-32000,"message":"Server error","data":"Chunk Missing"}}',
      -32000,
      'Server error: Chunk Missing',
    ],
    ['without a code', '{"id":1,"error":{"message":"x"}}', null, 'x'],
    ['with a code that is a text', '{"id":1,"error":{"code":"3","message":"x"}}', null, 'x'],
    ['with a code that is a fraction', '{"id":1,"error":{"code":1.5,"message":"x"}}', null, 'x'],
    ['without a message', '{"id":1,"error":{"code":3}}', 3, ''],
    [
      'with a message that is an object',
      '{"id":1,"error":{"code":3,"message":{"a":1}}}',
      3,
      '{"a":1}',
    ],
    ['that is a text', '{"id":1,"error":"too many requests"}', null, 'too many requests'],
    ['with escapes', '{"id":1,"error":{"code":3,"message":"a\\u0062\\n"}}', 3, 'ab\n'],
  ])('%s is read', (_, text, code, message) => {
    const { content, text: passed } = read(text, { status: 500 })
    expect(content).toEqual({ kind: 'node-error', error: { status: 500, code, message } })
    expect(passed).toBe(text)
  })

  test('may have no id, or a null one: the client gets its own', () => {
    const error = '"error":{"code":1}'
    expect(read(`{"id":null,${error}}`, { id: '"x"' }).text).toBe(`{"id":"x",${error}}`)
    expect(read(` { ${error}}`, { id: '"x"' }).text).toBe(` {"id":"x", ${error}}`)
  })

  test('is truncated when its message is too long for failure tables', () => {
    const { content } = read(`{"id":1,"error":{"code":3,"message":"${'m'.repeat(100_000)}"}}`)
    expect(content.kind === 'node-error' && content.error.message.length).toBe(4_096)
  })
})

const noError = 'an error without a code or a message'

describe('a malformed answer', () => {
  test.each([
    ['', 'an empty body'],
    ['  \n', 'an empty body'],
    ['<html>', 'a body that is not a JSON object'],
    ['[]', 'a body that is not a JSON object'],
    ['"ok"', 'a body that is not a JSON object'],
    ['{"id":1,"result":"0x', 'JSON that ends early'],
    ['{"id":1,"result":[{"a":1},', 'JSON that ends early'],
    ['{"id":1,"result":1', 'JSON that ends early'],
    ['{"id":1,"result":1,}', 'a body that is not JSON'],
    ['{"id":1,"result":NaN}', 'a body that is not JSON'],
    ['{"id":1,"result":1}{"id":2,"result":2}', 'more than one JSON value'],
    ['{"id":1,"result":1}x', 'more than one JSON value'],
    ['{}', 'neither a result nor an error'],
    ['{"id":1}', 'neither a result nor an error'],
    ['{"id":1,"error":null}', 'neither a result nor an error'],
    ['{"id":1,"method":"x","params":[]}', 'neither a result nor an error'],
    ['{"id":1,"result":1,"error":{"code":1}}', 'both a result and an error'],
    ['{"id":1,"result":1,"result":2}', 'a duplicate member'],
    ['{"id":1,"id":1,"result":1}', 'a duplicate member'],
    ['{"id":1,"error":{}}', noError],
    ['{"id":1,"error":""}', noError],
    ['{"id":1,"error":0}', noError],
    ['{"id":1,"error":true}', noError],
    ['{"id":1,"error":[]}', noError],
    ['{"id":1,"error":["boom"]}', noError],
    ['{"id":1,"error":{"code":"x"}}', noError],
    ['{"id":1,"error":{"code":null,"message":""}}', noError],
    ['{"id":1,"error":{"message":{}}}', noError],
    ['{"id":2,"result":1}', 'the id of another request'],
    ['{"id":"1","result":1}', 'the id of another request'],
    ['{"id":null,"result":1}', 'the id of another request'],
    ['{"result":1}', 'the id of another request'],
    ['{"id":2,"error":{}}', 'the id of another request'],
    ['{"id":{},"result":1}', 'the id of another request'],
  ])('%s has %s', (text, why) => {
    expect(read(text)).toEqual({ content: { kind: 'malformed', why }, text })
  })

  test('a result under an error status', () => {
    expect(read('{"id":1,"result":1}', { status: 503 }).content.kind).toBe('malformed')
  })

  describe.each(['{"id":1,"result":1}', '{"id":1,"error":{"code":3,"message":"reverted"}}'])(
    '%s under a status without an answer',
    (text) => {
      test.each([204, 205, 206, 207, 226, 300, 301, 302, 303, 304, 307, 308, 399])(
        '%i',
        (status) => {
          const why = 'no answer'
          expect(read(text, { status }).content).toEqual({ kind: 'malformed', why })
        },
      )
    },
  )

  test.each([200, 201, 202, 203])('none of its kind is the status %i', (status) => {
    expect(read('{"id":1,"result":1}', { status }).content.kind).toBe('result')
  })
})

test('concurrent attempts each get their own spelling of the id', () => {
  const reader = new JsonRpcReplyReader(Buffer.from('1'), Buffer.from('1.0'))
  const one = reply('{"id":1,"result":"one"}').incoming
  const two = reply('{"result":"two","id":1.00}').incoming
  reader.read(one)
  reader.read(two)
  const write = (incoming: typeof one) =>
    Buffer.from(reader.bodyOf(incoming) as Uint8Array).toString()
  expect(write(one)).toBe('{"id":1.0,"result":"one"}')
  expect(write(two)).toBe('{"result":"two","id":1.0}')
})

test.each(['"id":1', '"result":1', '"error":{"code":1,"message":"no"}'])(
  '%s twice is a duplicate member',
  (member) => {
    const base = member.startsWith('"error"') ? `{"id":1,${member}}` : `{"id":1,"result":1}`
    const doubled = `${base.slice(0, -1)},${member}}`
    expect(read(doubled).content).toEqual({ kind: 'malformed', why: 'a duplicate member' })
  },
)
