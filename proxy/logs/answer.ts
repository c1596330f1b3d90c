// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { nodeLimits } from '../bytes/limits.ts'
import { spliced } from '../json/place.ts'
import { arrayBytes, memberOf } from '../json/scanner.ts'
import type { Call } from '../relay/call.ts'
import { RelayError } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import { type BodyStream, TransportError } from '../upstream/wire.ts'
import { bytesOf, lengthOf, type LogList } from './log-list.ts'
import { Refused } from './part-requests.ts'
import type { SplitQuery } from './split-query.ts'

type Parts = AsyncGenerator<LogList, void>

/** The answer to a split query: in memory if it is short, otherwise a stream. */
export async function answerOf(query: SplitQuery): Promise<Reply> {
  const parts = query.parts()
  const logs: LogList[] = []
  let length = 0
  let isWhole = false
  try {
    while (!isWhole && length <= nodeLimits.collectedBytes) {
      const part = await parts.next()
      isWhole = part.done === true
      logs.push(part.value ?? [])
      length += lengthOf(part.value ?? [])
    }
  } catch (error) {
    if (error instanceof Refused) return error.reply
    throw error
  }
  const [start, end] = shellOf(query.query.call, !isWhole)
  const first = bytesOf(logs.flat())
  query.requests.isStreaming = !isWhole
  const { upstream, latestBlock } = query.requests
  const body = isWhole
    ? Buffer.concat([start, first, end])
    : streamOf(query, bytesIn(query, parts, start, first, end))
  const headers = ['content-type', 'application/json']
  return {
    incoming: { status: 200, headers, body, trailers: () => [] },
    ...{ upstream, refusal: null, latestBlock: latestBlock === Infinity ? null : latestBlock },
  }
}

/** The bytes before and after the logs. @param isOwn whether the client's id is needed */
function shellOf({ reader }: Call, isOwn: boolean): readonly [Uint8Array, Uint8Array] {
  const empty = reader.write([])
  const id = isOwn && reader.ownId ? memberOf(empty, 'id') : null
  const shell = id && reader.ownId ? spliced(empty, id, reader.ownId) : empty
  // It ends with the empty list and the brace.
  return [shell.subarray(0, -2), shell.subarray(-2)]
}

async function* bytesIn(
  query: SplitQuery,
  parts: Parts,
  ...[start, first, end]: readonly [Uint8Array, Uint8Array, Uint8Array]
) {
  try {
    yield start
    yield* chunksOf(first)
    for await (const logs of parts) {
      query.held.hold(-lengthOf(logs))
      yield arrayBytes.comma
      yield* chunksOf(bytesOf(logs))
    }
    yield end
  } catch (cause) {
    if (!(cause instanceof RelayError || cause instanceof Refused)) throw cause
    throw new TransportError('truncated', cause.message, true, { cause })
  } finally {
    query.end()
  }
}

function streamOf(query: SplitQuery, bytes: AsyncGenerator<Uint8Array, void>): BodyStream {
  const stop = () => {
    // A generator that never ran has no `finally`.
    query.end()
    return bytes.return()
  }
  return { head: [], [Symbol.asyncIterator]: () => ({ next: () => bytes.next(), return: stop }) }
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  const { unreadBytes } = nodeLimits
  for (let at = 0; at < bytes.length; at += unreadBytes) yield bytes.subarray(at, at + unreadBytes)
}
