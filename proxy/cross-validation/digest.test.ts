// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { FailureClass } from '../chain/failure-table.ts'
import type { ApiInterface } from '../config/types.ts'
import { digestOf } from './vote.ts'

function textOf(
  body: string,
  ignored: readonly string[] = [],
  apiInterface: ApiInterface = 'jsonrpc',
  anyCaseHex = false,
) {
  const bytes = Buffer.from(body)
  return digestOf({ refusal: null }, bytes, apiInterface, ignored, anyCaseHex).answer
}

function answer(result: string, id = 1): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}

const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`

describe('the same answer', () => {
  test.each<[string, string, string, string[]?, ApiInterface?, boolean?]>([
    [
      'keys in another order',
      answer('{"a":1,"b":{"c":2,"d":3}}'),
      answer('{"b":{"d":3,"c":2},"a":1}'),
    ],
    ['spaces', answer('[1, 2]'), answer('[1,2]')],
    ['another id', answer('"0x1"'), '{"id":"x","result":"0x1"}'],
    ['another spelling of a number', answer('1.0'), answer('1')],
    ['escapes', answer('"\\u0061"'), answer('"a"')],
    [
      'an ignored field',
      answer('{"context":{"slot":1},"value":2}'),
      answer('{"context":{"slot":7},"value":2}'),
      ['context.slot'],
    ],
    ['an ignored field of each', answer('[{"a":1,"b":2}]'), answer('[{"a":9,"b":2}]'), ['*.a']],
    ['a missing ignored field', answer('{"value":2}'), answer('{"own":7,"value":2}'), ['own']],
    [
      'hex in another case, on EVM',
      answer('{"a":"0xAB"}'),
      answer('{"a":"0xab"}'),
      [],
      'jsonrpc',
      true,
    ],
    [
      'a name in hex',
      answer('{"0xAB":1,"0xac":2}'),
      answer('{"0xac":2,"0xab":1}'),
      [],
      'jsonrpc',
      true,
    ],
    ['texts with colons', answer('{"a:\\"":":","b":1}'), answer('{"b":1,"a:\\"":":"}')],
    ['zeros', answer('[0.00,-0,0e9]'), answer('[0,0,0]')],
    ['REST', '{"a":1,"b":2}', '{"b":2,"a":1}', [], 'rest'],
    ['Tendermint RPC without its envelope', '{"a":1}', answer('{"a":1}'), [], 'tendermintrpc'],
    ['bytes other than JSON', 'plain', 'plain', [], 'rest'],
    ['deep nesting', answer(deep), answer(deep)],
  ])('%s', (_, one, other, ignored, apiInterface, anyCaseHex) => {
    const of = (body: string) => textOf(body, ignored, apiInterface, anyCaseHex)
    expect(of(one)).toBe(of(other))
  })
})

describe('another answer', () => {
  test.each<[string, string, string, string[]?, ApiInterface?, boolean?]>([
    ['a value', answer('"0x1"'), answer('"0x2"')],
    ['the case of hex, not on EVM', answer('"0xAB"'), answer('"0xab"')],
    ['the case of a text, on EVM', answer('"0xG"'), answer('"0xg"'), [], 'jsonrpc', true],
    ['other digits, on EVM', answer('"0xAB"'), answer('"0xac"'), [], 'jsonrpc', true],
    ['null', answer('null'), answer('"0x1"')],
    [
      'numbers that a double rounds alike',
      answer('12345678901234567890'),
      answer('12345678901234567891'),
    ],
    ['a number beyond all doubles', answer('1e400'), answer('null')],
    ['two numbers beyond all doubles', answer('1e400'), answer('1e401')],
    ['a number below all doubles', answer('1e-400'), answer('0')],
    // Some clients read the first duplicate, some the last.
    ['a duplicate member', answer('{"a":1,"a":2}'), answer('{"a":2}')],
    ['a duplicate member, in the other order', answer('{"a":2,"a":1}'), answer('{"a":2}')],
    ['a duplicate member, as an escape', answer('[{"a":1,"\\u0061":2}]'), answer('[{"a":2}]')],
    ['a duplicate result', `{"result":1,${answer('2').slice(1)}`, answer('2')],
    ['colons and quotes in a text', answer('{"a":":\\"","a":1}'), answer('{"a":1}')],
    ['the order of a list', answer('[1,2]'), answer('[2,1]')],
    ['a number and a text', answer('1'), answer('"1"')],
    ['an additional field', answer('{"a":1}'), answer('{"a":1,"b":null}')],
    ['a name with a dot', answer('{"a.b":1}'), answer('{"a.b":2}'), ['a.b']],
    ['bytes of gRPC', 'ab', 'ac', [], 'grpc'],
    ['__proto__', answer('{"__proto__":1}'), answer('{"__proto__":2}')],
  ])('%s', (_, one, other, ignored, apiInterface, anyCaseHex) => {
    const of = (body: string) => textOf(body, ignored, apiInterface, anyCaseHex)
    expect(of(one)).not.toBe(of(other))
  })
})

test.each([
  ['the same data', '{"code":3,"message":"execution reverted: x","data":"0xAB"}', true],
  ['data after other text', '{"code":-32015,"message":"VM error","data":"Reverted 0xab"}', true],
  ['other data', '{"code":3,"message":"execution reverted","data":"0xac"}', false],
  ['no data', '{"code":3,"message":"execution reverted","data":"0x"}', false],
])('two reverts with %s', (_, error, isSame) => {
  const refusal = { name: 'execution-reverted' } as FailureClass
  const of = (text: string) =>
    digestOf({ refusal }, Buffer.from(`{"id":1,"error":${text}}`), 'jsonrpc', []).answer
  expect(of(error) === of('{"code":3,"message":"execution reverted","data":"0xab"}')).toBe(isSame)
})

test('an excerpt is bounded', () => {
  const body = Buffer.from(answer(`"${'x'.repeat(10_000)}"`))
  expect(digestOf({ refusal: null }, body, 'jsonrpc', []).excerpt).toHaveLength(256)
  expect(digestOf({ refusal: null }, body, 'grpc', []).excerpt).toHaveLength(256)
})
