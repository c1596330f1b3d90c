// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { rawCall, valuesOf } from './raw-call.ts'
import { answerWith, begin, framed, type Manner } from './raw-node.ts'
import { served } from './served-nodes.ts'

const unary = '/test.Echo/Unary'
const details = Buffer.from('details of theirs').toString('base64')

/** Answers that it is rate limited, with metadata of every kind. */
function busy(words: string): Manner {
  return (stream) => {
    stream.resume()
    const trailers = {
      'grpc-status': '8',
      'grpc-message': words,
      'grpc-status-details-bin': details,
      'x-trailing': 'theirs',
    }
    begin(stream, trailers, ['x-initial', 'theirs'])
    stream.end()
  }
}

/** Answers the same in a single header block. */
const busyAtOnce: Manner = (stream) => {
  stream.resume()
  const status = ['grpc-status', '8', 'grpc-message', 'too%20busy', 'x-initial', 'theirs']
  const head = [':status', '200', 'content-type', 'application/grpc', ...status]
  stream.respond([...head, 'grpc-status-details-bin', details], { endStream: true })
}

test.each([
  ['behind its head', busy('too%20busy')],
  ['at once', busyAtOnce],
])(
  'a refusal by a cooldown hides the metadata of the rate-limit answer to another client (%s)',
  async (_, manner) => {
    await using own = await served([manner])
    const first = await rawCall(own.router.port, unary, ['x-a', 'theirs'])
    expect(valuesOf(first.trailers, 'grpc-status-details-bin')).toEqual([details])
    const { calls } = own.nodes[0]!
    const { head, trailers } = await rawCall(own.router.port, unary)
    expect(own.nodes[0]!.calls).toBe(calls)
    expect(valuesOf(trailers, 'grpc-status')).toEqual(['8'])
    expect(valuesOf(trailers, 'grpc-message')[0]).toMatch(/^rate-limited: /)
    for (const all of [head, trailers]) {
      expect(all.join()).not.toContain('theirs')
      expect(valuesOf(all, 'grpc-status-details-bin')).toEqual([])
    }
  },
)

test('a message over the limit of a node starts no cooldown', async () => {
  const strict: Manner = (stream) => {
    let bytes = 0
    stream.on('data', (piece: Buffer) => (bytes += piece.length))
    stream.on('end', () => {
      if (bytes <= 4_194_304 + 5) return answerWith(stream, ['well'])
      const words = `Received message larger than max (${bytes - 5} vs 4194304)`
      answerWith(stream, [], { 'grpc-status': '8', 'grpc-message': words })
    })
  }
  await using pair = await served([strict, strict])
  const long = await rawCall(pair.router.port, unary, [], framed(Buffer.alloc(5_000_000)))
  expect(valuesOf(long.trailers, 'grpc-message')).toEqual([
    'Received message larger than max (5000000 vs 4194304)',
  ])
  for (let at = 0; at < 4; at++) {
    const { trailers } = await rawCall(pair.router.port, unary)
    expect(valuesOf(trailers, 'grpc-status')).toEqual(['0'])
  }
})
