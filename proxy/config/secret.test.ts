// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal, parse } from './config-text.fixture.ts'
import { createRedactor } from '../upstream/secrets/mask.ts'
import { hiddenInLogs, keysOfHeader, leftOverFault, likelyKeys, Secret } from './secret.ts'

test.each([
  'SEKRET0NE',
  'abcd1234',
  's3cr3tk3y',
  'canary-5f3c9e',
  'abcdefghijklmnop',
  'ABCDEFGHIJKLMNOP',
  'my-secret-api-key-value',
  '0123456789abcdef',
  '0xdeadbeef0123',
  'deadbeefdeadbeef',
  '550e8400-e29b-41d4-a716-446655440000',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz',
  'p%40ss%2Fw0rd-12',
  '123456789012',
  'Xy$9!kk@2:z#q1',
])('%s looks like a key', (text) => {
  expect(likelyKeys(text)).toContain(text)
})

test.each([
  '',
  'abc123',
  'jsonrpc',
  'jsonrpc2',
  'jsonrpc2.0',
  'mainnet',
  'MAINNET',
  'Ethereum',
  'Query',
  'message',
  'cosmos',
  'cosmoshub-4',
  'evmos_9001-2',
  'theta-testnet-001',
  'ethereum-mainnet',
  'arbitrum-sepolia',
  'v1alpha1',
  'eth-main1',
  'unknown service',
  'net%2Dmain',
  '12345678901',
  '2026-01-02',
  'v1.2.3-beta',
  'eth-main1.example.com',
  'eth-main1.example.com:8545',
  '192.168.100.200:8545',
  'ethereum/mainnet/v1alpha1',
  '/v2/ETH1/rpc2/mainnet',
  'https://eth-main1.example.com/v1',
])('%j does not', (text) => {
  expect(likelyKeys(text)).not.toContain(text)
})

test.each([
  ['authorization', true],
  ['Cookie', true],
  ['x-api-key', true],
  ['X-Auth-User', true],
  ['api_key', true],
  ['accessToken', true],
  ['client_secret', true],
  ['password', true],
  ['accept', false],
  ['content-type', false],
  ['x-aptos-client', false],
  ['user-agent', false],
  ['network', false],
  ['q', false],
])('a value named %s is a key: %j', (name, isKey) => {
  expect(keysOfHeader(name, 'opensesame')).toEqual(isKey ? ['opensesame', 'opensesame'] : [])
})

test.each([
  ['url: "${WHOLE}"', ['SEKRETONE']],
  ['url: "https://h/${KEY}/v1?x=${OTHER}"', ['SEKRETONE', 'OTHERKEY']],
  ['url: "https://me:${KEY}@h/"', ['SEKRETONE', 'bWU6U0VLUkVUT05F']],
  ['url: "https://h/v2/0123456789abcdef"', ['0123456789abcdef']],
  ['url: "https://h/", auth-config: {auth-headers: {a: "Bearer ${KEY}"}}', ['SEKRETONE']],
  ['url: "https://h/", auth-config: {auth-query: "a=x${KEY}"}', ['SEKRETONE', 'xSEKRETONE']],
  ['url: "https://h/", auth-config: {auth-headers: {a: "Bearer abc123"}}', ['abc123']],
])('logs hide the keys of %s', (node, keys) => {
  const text = minimal.replace('- url: https://one.example.com/v1', `- {${node}}`)
  const environment = { WHOLE: 'https://h/a/SEKRETONE', KEY: 'SEKRETONE', OTHER: 'OTHERKEY' }
  const redact = createRedactor(parse(text, environment).hidden())
  for (const each of keys) expect(redact(each)).toBe('[redacted]')
  expect(redact('bearer of mainnet')).toBe('bearer of mainnet')
})

const key = 'aB3dE5gH7jK9'
const environment = {
  KEY: key,
  NET: 'jsonrpc',
  CHAIN: 'cosmoshub-4',
  WHOLE: `https://h.example.com/mainnet/${key}?apikey=opensesame`,
  BEARER: `Bearer ${key}`,
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

test('a URL that is only an origin is no secret: the log shows it', () => {
  const origin = 'grpc://127.0.0.1:9090'
  expect(hiddenInLogs([new Secret(origin, origin, [])])).toEqual([])
})

const placeholders =
  'KEY API_KEY APIKEY TOKEN MY_SECRET YOUR-KEY YOURKEY YOUR_API_KEY your-api-key INSERT_KEY_HERE my-api-key TOKEN_HERE PROJECT_ID ALCHEMY_KEY <key> <your_key> {apiKey} {{KEY}} %KEY% [KEY] __KEY__ $KEY xxx XXXX-XXXX ... abc... *** api-key CHANGEME REPLACE_ME undefined'
const places = ['https://h/v2/@', 'https://h/@?a=1', 'wss://h/?apikey=@', 'Bearer @', '@']
test.each(placeholders.split(' '))('%s is a placeholder, wherever it stands', (text) => {
  for (const place of places)
    expect(
      leftOverFault(
        place.replace('@', () => text),
        '',
      ),
      place,
    ).not.toBeNull()
})

test.each([
  'https://eth-mainnet.g.alchemy.com/v2/demo',
  'https://h/v2/aB3dEf6hIjKlMnOpQrStUvWxYz012345',
  'https://mainnet.infura.io/v3/0123456789abcdef0123456789abcdef',
  'https://lb.drpc.org/ogrpc?network=ethereum&dkey=AbC-xxx_12',
  'https://h/?key=abc',
  'https://h/key/aB3dEf6h',
  'https://h/apikey/9f8e7d',
  'https://h/v2/KEYSTONE1',
  'https://h/v2/IDKEY7',
  'https://h/v2/8xxx9',
  'https://h/v2/A1B2-C3D4-KEYS',
  'https://h/v2/my_team',
  'https://key.example.com/v1',
  'Basic dXNlcjpwYXNz',
  'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SflKxw',
])('%s holds no placeholder', (text) => {
  expect(leftOverFault(text, text)).toBeNull()
})
