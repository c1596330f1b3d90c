// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { nodeUrlConfig } from './testing/node-url-config.ts'
import { UpstreamTarget } from './upstream-target.ts'

const plain = 'https://node.test'
const based = 'https://node.test/v1/KEY'
const keyed = 'https://node.test/v1?key=secret&n=1'

test.each<[string, string, string | null]>([
  [plain, '/blocks/5', '/blocks/5'],
  [plain, '/blocks?height=5', '/blocks?height=5'],
  [plain, '/', '/'],
  [plain, 'https://node.test/blocks', null],
  [plain, '//node.test/blocks', null],
  [plain, '/\\node.test', null],
  [plain, 'blocks', null],
  [plain, '', null],
  [based, '/v1/KEY/blocks/5', '/blocks/5'],
  [based, '/v1/KEY', '/'],
  [based, '/v1/KEY?a=1', '/?a=1'],
  [based, '/v1/KEYS/blocks', null],
  [based, '/v1/KEY//evil.test', null],
  [based, '/login', null],
  [keyed, '/v1/blocks/?a=1&key=secret&n=1', '/blocks/?a=1'],
  [keyed, '/v1/blocks/?key=secret&n=1', '/blocks/'],
  [keyed, '/v1/blocks/?key=secret&a=1', null],
  [keyed, '/v1/blocks/', '/blocks/'],
])('%s: a location %s is %s to a client', (url, location, expected) => {
  expect(new UpstreamTarget(nodeUrlConfig(url)).clientLocation(location)).toBe(expected)
})

test.each<[string, Record<string, string>, string[], string[]]>([
  ['none of its own', {}, ['X-Key', 'theirs'], ['X-Key', 'theirs']],
  ['one of its own', { 'x-key': 'own' }, ['x-a', '1'], ['x-a', '1', 'x-key', 'own']],
  [
    "one of its own, and the client's, twice and in any case",
    { 'x-key': 'own' },
    ['x-key', 'theirs', 'x-a', '1', 'X-KEY', 'again'],
    ['x-a', '1', 'x-key', 'own'],
  ],
  [
    'several of its own',
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
