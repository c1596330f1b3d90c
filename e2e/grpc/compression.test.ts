// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Metadata, compressionAlgorithms, status } from '@grpc/grpc-js'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { EchoClient } from './echo-client.ts'
import { begin, framed } from './raw-node.ts'
import { served } from './served-nodes.ts'

test('compressed messages pass unchanged in both directions', async () => {
  const seen: { encoding: unknown; body: Buffer }[] = []
  await using own = await served([
    (stream, headers) => {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        seen.push({ encoding: headers['grpc-encoding'], body: Buffer.concat(pieces) })
        begin(stream, { 'grpc-status': '0' }, ['grpc-encoding', 'gzip'])
        stream.end(Buffer.concat([framed(gzipSync('well'), true), framed('plain')]))
      })
    },
  ])
  using client = new EchoClient(own.router.port, {
    'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
  })
  const answer = await client.run('Both', ['hello '.repeat(1_000)], new Metadata())
  expect(answer).toMatchObject({ code: status.OK, messages: ['well', 'plain'] })
  expect(seen[0]?.encoding).toBe('gzip')
  expect(seen[0]?.body[0]).toBe(1)
  expect(seen[0]?.body.length).toBeLessThan(1_000)
})
