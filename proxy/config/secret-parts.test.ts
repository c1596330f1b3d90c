// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal, parse } from './config-text.fixture.ts'
import { partsOf } from './secret-parts.ts'

test.each([
  ['a key', 'SEKRETONE', ['SEKRETONE']],
  ['a whole URL', 'https://eth-main1.example.com/v2/SEKRETONE?k=TWO-TWO', ['SEKRETONE', 'TWO-TWO']],
  ['a header', 'Bearer abc123', ['abc123']],
  ['words of a path', 'https://h/ethereum/mainnet/abc123', ['abc123']],
  ['a long word of a path', 'https://h/abcdefghijklmnop', ['abcdefghijklmnop']],
  ['a user and a password', 'user:pass-W0rd', ['pass-W0rd']],
])('%s gives away what it is and its keys', (_name, value, keys) => {
  expect(new Set(partsOf(value))).toEqual(new Set([value, ...keys]))
})

test.each([
  ['url: "${WHOLE}"', ['https://h/a/SEKRETONE']],
  ['url: "https://h/${KEY}/v1?x=${OTHER}"', ['SEKRETONE', 'OTHERKEY']],
  ['url: "https://me:${KEY}@h/"', ['SEKRETONE', 'bWU6U0VLUkVUT05F']],
  ['url: "https://h/v2/0123456789abcdef"', ['0123456789abcdef']],
  ['url: "https://h/", auth-config: {auth-headers: {a: "Bearer ${KEY}"}}', ['SEKRETONE']],
  ['url: "https://h/", auth-config: {auth-query: "a=x${KEY}"}', ['SEKRETONE', 'xSEKRETONE']],
])('the keys of %s are known', (node, keys) => {
  const text = minimal.replace('- url: https://one.example.com/v1', `- {${node}}`)
  const environment = { WHOLE: 'https://h/a/SEKRETONE', KEY: 'SEKRETONE', OTHER: 'OTHERKEY' }
  const [url] = parse(text, environment).config?.upstreams[0]?.nodeUrls ?? []
  const secrets = url ? [url.url, ...url.authHeaders.values(), ...url.authQuery.values()] : []
  expect(secrets.flatMap((secret) => secret.parts())).toEqual(expect.arrayContaining(keys))
})
