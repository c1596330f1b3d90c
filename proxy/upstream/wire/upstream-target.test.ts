// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { Secret } from '../../config/secret.ts'
import { nodeUrlConfig } from '../testing/node-url-config.ts'
import { UpstreamTarget } from './upstream-target.ts'

const plain = 'https://node.test'
const based = 'https://node.test/v1/KEY'
const keyed = 'https://node.test/v1?key=secret&n=1'

test.each<[string, Record<string, string>, string[], string[]]>([
  ['no header of its own', {}, ['X-Key', 'theirs'], ['X-Key', 'theirs']],
  ['one header of its own', { 'x-key': 'own' }, ['x-a', '1'], ['x-a', '1', 'x-key', 'own']],
  [
    "one of its own, and the client's, twice and in any case",
    { 'x-key': 'own' },
    ['x-key', 'theirs', 'x-a', '1', 'X-KEY', 'again'],
    ['x-a', '1', 'x-key', 'own'],
  ],
  [
    'several headers of its own',
    { accept: 'op/type', authorization: 'own' },
    ['Accept', 'x', 'Authorization', 'y', 'authorizations', 'z'],
    ['authorizations', 'z', 'accept', 'op/type', 'authorization', 'own'],
  ],
])('headers of a request to a URL with %s', (_, own, headers, expected) => {
  const authHeaders = new Map(
    Object.entries(own).map(([name, value]) => [name, new Secret(value)] as const),
  )
  const target = new UpstreamTarget(nodeUrlConfig(plain, { authHeaders }))
  expect(target.headersWith(headers)).toEqual(expected)
})

const own = 'key=secret&n=1'

test.each([
  ['', ''],
  ['?', ''],
  ['?height=5', '&height=5'],
  ['?key=theirs', ''],
  ['?key', ''],
  ['?key=', ''],
  ['?&key=theirs', ''],
  ['?key=theirs&height=5', '&height=5'],
  ['?height=5&key=theirs', '&height=5'],
  ['?a=1&key=theirs&b=2&n=7&key=again&c', '&a=1&b=2&c'],
  ['?KEY=theirs&a=1', '&a=1'],
  ['?%6bey=theirs', ''],
  ['?%4B%65%79=theirs', ''],
  // Other parameters pass unchanged.
  ['?keys=1&a-key=2&ke=3&a=key', '&keys=1&a-key=2&ke=3&a=key'],
  ['?height="5"&&a=%2b+%zz;b=?c&=x&[]&', '&height="5"&&a=%2b+%zz;b=?c&=x&[]&'],
])('to a URL with keys in its query, a call with the query "%s"', (query, others) => {
  const target = new UpstreamTarget(nodeUrlConfig(keyed))
  expect(target.pathOf(`/blocks${query}`)).toBe(`/v1/blocks?${own}${others}`)
})

test.each([
  ['in its URL', { url: 'https://node.test?n=1', authQuery: {} }],
  ['of its own', { url: plain, authQuery: { n: '1' } }],
])("a client's parameter does not replace that of a URL with keys %s", (_, { url, authQuery }) => {
  const map = new Map(Object.entries(authQuery).map(([name, value]) => [name, new Secret(value)]))
  const target = new UpstreamTarget(nodeUrlConfig(url, { authQuery: map }))
  expect(target.pathOf('/a?x=1&n=2')).toBe('/a?n=1&x=1')
})

test.each(['api_key', 'api key', 'ключ', '_', 'auth[key]', 'a&b', 'a;b', 'a=b', 'ÄPI'])(
  'the name %s of a key is recognized in any encoding',
  (name) => {
    const authQuery = new Map([[name, new Secret('own')]])
    const target = new UpstreamTarget(nodeUrlConfig(plain, { authQuery }))
    const encoded = encodeURIComponent(name)
    const hex = [...Buffer.from(name)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    for (const each of [encoded, encoded.replaceAll('%20', '+'), hex.join('')])
      expect(target.pathOf(`/a?x=1&${each}=theirs`)).toBe(`/a?${encoded}=own&x=1`)
  },
)

test('a URL without keys in its query passes every query unchanged', () => {
  const target = new UpstreamTarget(nodeUrlConfig(based))
  for (const path of ['/a?', '/a?key=1&key=2;KEY', '/a??=&&'])
    expect(target.pathOf(path)).toBe(`/v1/KEY${path}`)
})

test.each([
  ['the router names itself', {}, ['user-agent', 'rpc-router/1.2.3']],
  ['unless the URL overrides it', { 'user-agent': 'ours' }, ['user-agent', 'ours']],
])('%s', (_, own, expected) => {
  const authHeaders = new Map(
    Object.entries(own).map(([name, value]) => [name, new Secret(value)] as const),
  )
  const target = new UpstreamTarget(nodeUrlConfig(plain, { authHeaders }), {
    'user-agent': 'rpc-router/1.2.3',
  })
  expect(target.headersWith(['User-Agent', 'theirs'])).toEqual(expected)
})
