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

const key = 'aB3dE5gH7jK9'
const environment = {
  KEY: key,
  NET: 'jsonrpc',
  CHAIN: 'cosmoshub-4',
  WHOLE: `https://h.example.com/mainnet/${key}?apikey=opensesame`,
  BEARER: `Bearer ${key}`,
  MEDIA: 'application/x.aptos.signed_transaction+bcs',
}
const auth = (config: string) => `url: "https://h/", auth-config: {${config}}`

test.each([
  ['url: "https://h/${KEY}/v1"', [key]],
  ['url: "https://h/${NET}/${CHAIN}/${KEY}"', [key]],
  ['url: "https://h/${NET}?chain=${CHAIN}"', []],
  ['url: "${WHOLE}"', [key, 'opensesame']],
  [`url: "https://h/mainnet/v1alpha1/${key}"`, [key]],
  ['url: "https://h/?network=mainnet&chain=cosmoshub-4"', []],
  [`url: "https://h/?network=mainnet&apikey=opensesame&q=${key}"`, ['opensesame', key]],
  [`url: "https://h/?${key}"`, [key]],
  ['url: "https://me:opensesame@h/"', ['opensesame', 'bWU6b3BlbnNlc2FtZQ==']],
  [auth('auth-headers: {accept: application/json}'), []],
  [auth('auth-headers: {accept: "${MEDIA}", x-auth-type: "${MEDIA}"}'), []],
  [auth('auth-headers: {x-aptos-client: aptos-typescript-sdk, content-type: text/plain}'), []],
  [auth('auth-headers: {x-network: "${NET}", x-chain: "${CHAIN}"}'), []],
  [auth('auth-headers: {x-project: "${KEY}"}'), [key]],
  [auth(`auth-headers: {x-project: ${key}}`), []],
  [auth('auth-headers: {x-api-key: opensesame}'), ['opensesame']],
  [auth('auth-headers: {authorization: "Bearer opensesame"}'), ['Bearer opensesame', 'opensesame']],
  [auth('auth-headers: {authorization: "${BEARER}"}'), [`Bearer ${key}`, key]],
  [auth('auth-headers: {authorization: "Bearer ${KEY}"}'), [`Bearer ${key}`, key]],
  [auth('auth-query: {network: mainnet, chain: "${CHAIN}"}'), []],
  [auth('auth-query: "network=mainnet&token=opensesame"'), ['opensesame']],
  [auth('auth-query: "id=${KEY}"'), [key]],
])('answers must not repeat, of %s, %j', (node, keys) => {
  const text = minimal.replace('- url: https://one.example.com/v1', `- {${node}}`)
  const { config, problems } = parse(text, environment)
  expect(problems).toEqual([])
  const [url] = config?.upstreams[0]?.nodeUrls ?? []
  const secrets = url ? [url.url, ...url.authHeaders.values(), ...url.authQuery.values()] : []
  const masked = new Set(secrets.flatMap((secret) => secret.keys()))
  expect(masked).toEqual(new Set(keys))
})
