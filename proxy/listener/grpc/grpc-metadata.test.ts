// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { clientCredentials } from './client-credentials.ts'
import { metadataForClient, metadataForNode } from './grpc-metadata.ts'

const none: ReadonlySet<string> = new Set()

describe("a client's metadata for the node", () => {
  test.each(clientCredentials)('%s stays here, and nothing else does', (name) => {
    expect(metadataForNode(['x-a', '1', name, 'secret', name, 'too'], none)).toEqual(['x-a', '1'])
  })

  test.each(clientCredentials)('%s goes on where the spec lists it', (name) => {
    expect(metadataForNode([name, 'secret'], new Set([name]))).toEqual([name, 'secret'])
  })

  const rows: [string, string[], string[]][] = [
    ['what comes twice, twice', ['x-a', '1', 'x-a', '2'], ['x-a', '1', 'x-a', '2']],
    ['binary', ['x-bin', 'AAEC'], ['x-bin', 'AAEC']],
    ['nothing of HTTP/2', [':path', '/a/b', 'x-a', '1'], ['x-a', '1']],
    [
      'nothing of the hop',
      ['te', 'trailers', 'te', 'gzip', 'host', 'y', 'proxy-authorization', 'z'],
      [],
    ],
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

test("a node's metadata for the client: all of it, but for what is of the hop", () => {
  const told = [
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
  expect(metadataForClient(told)).toEqual(['x-a', '1', 'set-cookie', 'a=b', 'authorization', 'x'])
})
