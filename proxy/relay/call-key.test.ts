// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { ClassifiedChain } from '../chain/testing/classified-chain.ts'
import { systemClock } from '../clock/clock.ts'
import { makeJsonRpcCall, ownHeaders } from '../listener/jsonrpc/jsonrpc-call.ts'
import { JsonRpcRequest } from '../listener/jsonrpc/jsonrpc-request.ts'
import { Keys, textOf } from './call-key.ts'
import type { ChainInterface } from '../chain/types.ts'
import type { HeaderList } from '../upstream/wire.ts'
import { noDirectives } from './call.ts'
import { ethereum } from './testing/relay-fixture.ts'

const { iface } = await ethereum()
const bitcoin = (await ClassifiedChain.load('BTC')).offered('jsonrpc')
const solana = (await ClassifiedChain.load('SLOTCHAIN')).offered('jsonrpc')
const keys = new Keys('ETH1 jsonrpc')

interface More {
  readonly extension?: string
  readonly headers?: HeaderList
  readonly of?: ChainInterface
}

function keyOf(method: string, params: string, more: More = {}) {
  const { extension = '', headers = ownHeaders, of = iface } = more
  const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`)
  const request = new JsonRpcRequest(body, { start: 0, end: body.length })
  const directives = { ...noDirectives, extension: extension || null }
  const { signal } = new AbortController()
  const origin = { directives, requestHeaders: headers, internalPath: '', signal }
  const key = keys.of(makeJsonRpcCall(request, origin, 'guid', { iface: of, clock: systemClock }))
  return key && { text: textOf(key), hash: key.hash }
}

function keyOfPath(path: string) {
  const body = Buffer.from('{"method":"eth_chainId"}')
  const request = new JsonRpcRequest(body, { start: 0, end: body.length })
  const { signal } = new AbortController()
  const origin = { directives: noDirectives, requestHeaders: [], internalPath: '', signal }
  const call = makeJsonRpcCall(request, origin, 'guid', { iface, clock: systemClock })
  const rest = { ...call, payload: undefined, request: { ...call.request, verb: 'GET', path } }
  return textOf(keys.of(rest)!)
}

const balance = keyOf('eth_getBalance', '["0xab"]')

test.each([
  ['with the default block tag', '["0xab","latest"]'],
  ['with white space', '[ "0xab" ,\n"latest"]'],
  ['with hex in upper case', '["0xAB"]'],
])('a call keeps its key %s', (_, params) => {
  expect(keyOf('eth_getBalance', params)).toEqual(balance)
})

test.each<[string, string, string, string, ChainInterface?]>([
  ['the case of an address', 'eth_call', '[{"to":"0xAB"}]', '[{"to":"0xab"}]'],
  [
    'the case of an overridden account',
    'eth_call',
    '[{},"0x1",{"0xAB":{}}]',
    '[{},"0x1",{"0xab":{}}]',
  ],
  ['the order of members', 'eth_call', '[{"to":"0xa","data":"0x"}]', '[{"data":"0x","to":"0xa"}]'],
  ['white space', 'getblockstats', '[1, ["txs"]]', '[1,["txs"]]', bitcoin],
])('calls that differ in %s share a key', (_, method, one, other, of = iface) => {
  expect(keyOf(method, one, { of })).toEqual(keyOf(method, other, { of }))
})

test.each<[string, string, string, string, ChainInterface?]>([
  ['the case of a signed text', 'verifymessage', '["a","b","0xAB"]', '["a","b","0xab"]', bitcoin],
  ['the case of hex in another family', 'getAccountInfo', '["0xAB"]', '["0xab"]', solana],
  ['the hex prefix', 'eth_getBalance', '["0XAB"]', '["0xAB"]'],
  ['the case of an EVM string that is not hex', 'eth_getBalance', '["0xAG"]', '["0xag"]'],
  [
    'names that a decoder may treat as equal',
    'eth_call',
    '[{"to":"0xa","To":"0xb"}]',
    '[{"To":"0xb","to":"0xa"}]',
  ],
  ['the order of duplicate names', 'eth_call', '[{"to":1,"to":2}]', '[{"to":2,"to":1}]'],
  [
    'names that differ only in case',
    'eth_call',
    '[{},"0x1",{"0xAB":1,"0xab":2}]',
    '[{},"0x1",{"0xab":1,"0xAB":2}]',
  ],
])('calls that differ in %s have different keys', (_, method, one, other, of = iface) => {
  expect(keyOf(method, one, { of })?.text).not.toBe(keyOf(method, other, { of })?.text)
})

test.each([
  ['another block', keyOf('eth_getBalance', '["0xab","earliest"]')],
  ['a block by its number', keyOf('eth_getBalance', '["0xab","0x1"]')],
  ['other params', keyOf('eth_getBalance', '["0xac"]')],
  ['one more', keyOf('eth_getBalance', '["0xab","latest",1]')],
  ['another method', keyOf('eth_getTransactionCount', '["0xab"]')],
  ['another extension', keyOf('eth_getBalance', '["0xab"]', { extension: 'archive' })],
  ['a header', keyOf('eth_getBalance', '["0xab"]', { headers: [...ownHeaders, 'x-own', '1'] })],
])('another key for %s, in any order of calls', (_, other) => {
  expect(other?.text).not.toBe(balance?.text)
  expect(other?.hash).not.toBe(balance?.hash)
  expect(keyOf('eth_getBalance', '["0xab"]')).toEqual(balance)
})

// Nodes differ: some use the first duplicate member, some the last, and some ignore case.
test.each([
  ['a duplicate name', '{"to":"0x1","to":"0x2"}', '{"to":"0x2","to":"0x1"}'],
  ['a name in upper and lower case', '{"to":"0x1","To":"0x2"}', '{"To":"0x2","to":"0x1"}'],
  ['a name with an escape', '{"to":"0x1","\\u0074o":"0x2"}', '{"\\u0074o":"0x2","to":"0x1"}'],
  ['a name that folds to ASCII', '{"k":"0x1","\u212a":"0x2"}', '{"\u212a":"0x2","k":"0x1"}'],
  ['addresses in upper and lower case', '{"0xab":1,"0xAB":2}', '{"0xAB":2,"0xab":1}'],
  ['nested members', '{"a":{"b":1,"B":2}}', '{"a":{"B":2,"b":1}}'],
  ['numbers', '{"to":1}', '{"to":1.0}'],
  ['numbers beyond double precision', '{"to":9007199254740992}', '{"to":9007199254740993}'],
  ['zeros', '{"to":0}', '{"to":-0}'],
  ['half a surrogate', '{"to":"\\ud800"}', '{"to":"\ufffd"}'],
])('calls that only some nodes consider equal have different keys: %s', (_, one, other) => {
  const key = (call: string) => keyOf('eth_call', `[${call},"0x1"]`)?.text
  expect(key(one)).not.toBe(key(other))
})

test('reordered members have the same key', () => {
  const [one, other] = ['{"to":"0x1","data":"0x2"}', '{ "data":"0x2","to":"0x1"}']
  expect(keyOf('eth_call', `[${one}]`)).toEqual(keyOf('eth_call', `[${other}]`))
})

test.each([
  ['a duplicate name', 'a=1&b=2&a=3', 'a=3&b=2&a=1'],
  ['a name in upper and lower case', 'a=1&A=2', 'A=2&a=1'],
  ['a name with an encoded letter', 'a=1&%61=2', '%61=2&a=1'],
  ['two spellings of a field', 'count_total=1&countTotal=2', 'countTotal=2&count_total=1'],
  ['a semicolon', 'a=1;b=2&c=3', 'c=3&a=1;b=2'],
])('reordered queries with %s have different keys', (_, one, other) => {
  expect(keyOfPath(`/x?${one}`)).not.toBe(keyOfPath(`/x?${other}`))
})

test('reordered parameters have the same key', () => {
  expect(keyOfPath('/x?b.c=%3B&a=1')).toBe(keyOfPath('/x?a=1&b.c=%3B'))
})

test('requests of more than 64 KiB have no key', () => {
  expect(keyOf('eth_getBalance', `["0x${'a'.repeat(65_000)}"]`)).not.toBeNull()
  expect(keyOf('eth_getBalance', `["0x${'a'.repeat(66_000)}"]`)).toBeNull()
})

test('a long key is a short, unique digest', () => {
  const data = `0x${'a'.repeat(10_000)}`
  const long = keyOf('eth_call', `[{"data":"${data}"},"latest"]`)
  expect(long?.text.length).toBeLessThan(100)
  expect(keyOf('eth_call', `[ { "data": "${data}" } ]`)).toEqual(long)
  for (const other of [
    keyOf('eth_call', `[{"data":"${data}b"}]`),
    keyOf('eth_estimateGas', `[{"data":"${data}"}]`),
    keyOf('eth_call', `[{"data":"${data}"}]`, { extension: 'archive' }),
  ])
    expect(other?.text).not.toBe(long?.text)
})
