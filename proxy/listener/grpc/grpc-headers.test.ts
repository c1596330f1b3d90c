// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { RelayError } from '../../relay/errors.ts'
import { metadataForClient, metadataForNode, readTimeout } from './grpc-headers.ts'

const none: ReadonlySet<string> = new Set()

const clientCredentials = [
  'authorization',
  'grpcgateway-authorization',
  'x-serverless-authorization',
  'cookie',
  'grpcgateway-cookie',
  'api-key',
  'apikey',
  'x-api-key',
  'x-apikey',
  'x-goog-api-key',
  'x-rapidapi-key',
  'ocp-apim-subscription-key',
  'x-token',
  'x-auth-token',
  'x-access-token',
  'x-session-token',
  'x-csrf-token',
  'x-amz-security-token',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'x-goog-iam-authorization-token',
  'x-goog-iap-jwt-assertion',
  'x-forwarded-access-token',
  'x-auth-request-access-token',
  'x-forwarded-client-cert',
  'cf-access-client-id',
  'cf-access-client-secret',
  'cf-access-jwt-assertion',
]

describe("a client's metadata for the node", () => {
  test.each(clientCredentials)('%s is dropped, and other metadata is forwarded', (name) => {
    expect(metadataForNode(['x-a', '1', name, 'secret', name, 'too'], none)).toEqual(['x-a', '1'])
  })

  test.each(clientCredentials)('%s is forwarded when the spec lists it', (name) => {
    expect(metadataForNode([name, 'secret'], new Set([name]))).toEqual([name, 'secret'])
  })

  const rows: [string, string[], string[]][] = [
    ['repeated headers, repeated', ['x-a', '1', 'x-a', '2'], ['x-a', '1', 'x-a', '2']],
    [
      "a key of the client's own",
      ['key', 'k', 'x-page-token-of', 't'],
      ['key', 'k', 'x-page-token-of', 't'],
    ],
    ['binary', ['x-bin', 'AAEC'], ['x-bin', 'AAEC']],
    ['no HTTP/2 pseudo-headers', [':path', '/a/b', 'x-a', '1'], ['x-a', '1']],
    [
      'no hop-by-hop headers',
      ['te', 'trailers', 'te', 'gzip', 'host', 'y', 'proxy-authorization', 'z'],
      [],
    ],
    ['no trace context', ['traceparent', 'x', 'tracestate', 'y'], []],
    ['no directive', ['rpc-debug-relay', '1', 'rpc-any', '1'], []],
    [
      'values without the space around them',
      ['x-a', ' \t1 2  ', 'x-b', ' '],
      ['x-a', '1 2', 'x-b', ''],
    ],
  ]
  test.each(rows)('%s', (_, sent, expected) => {
    expect(metadataForNode(sent, none)).toEqual(expected)
  })
})

test('node metadata reaches the client, except hop-by-hop headers', () => {
  const metadata = [
    ':status',
    '200',
    'x-a',
    ' 1 ',
    'set-cookie',
    'a=b',
    'authorization',
    'x',
    'te',
    'y',
  ]
  expect(metadataForClient(metadata)).toEqual([
    'x-a',
    '1',
    'set-cookie',
    'a=b',
    'authorization',
    'x',
  ])
})

const timeouts: [string, number | null][] = [
  ['1H', 3_600_000],
  ['2M', 120_000],
  ['30S', 30_000],
  ['99999999m', 99_999_999],
  ['500u', 0.5],
  ['1000000n', 1],
  ['0m', 0],
  ['', null],
  ['5', null],
  ['5s', null],
  ['-5S', null],
  ['1.5S', null],
  ['123456789m', null],
]
test.each(timeouts)('a deadline of %s is %s ms', (text, ms) => {
  const found = readTimeout(['grpc-timeout', text])
  expect(found instanceof RelayError ? null : found).toBe(ms)
})

test('repeated deadlines are refused, and an absent one is null', () => {
  expect(readTimeout(['grpc-timeout', '1S', 'grpc-timeout', '2S'])).toBeInstanceOf(RelayError)
  expect(readTimeout(['x-a', '1S'])).toBeNull()
})
