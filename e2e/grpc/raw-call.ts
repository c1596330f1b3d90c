// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { framed } from './raw-node.ts'

/** The answer to a call, frame by frame. */
export interface RawAnswer {
  readonly head: readonly string[]
  readonly body: Buffer
  /** Trailers; those of the head for a trailers-only answer. */
  readonly trailers: readonly string[]
}

/** Sends a call with arbitrary headers, which no library would allow. */
export async function rawCall(
  port: number,
  path: string,
  headers: readonly string[] = [],
  body: Buffer = framed('hi'),
): Promise<RawAnswer> {
  const session = rawSession(port)
  try {
    const stream = session.request([...headOf(path), ...headers])
    stream.end(body)
    return await answerOf(stream)
  } finally {
    session.destroy()
  }
}

const lax = {
  settings: { enablePush: false },
  strictSingleValueFields: false,
  strictFieldWhitespaceValidation: false,
  maxHeaderListPairs: 10_000,
  maxSendHeaderBlockLength: 1_000_000,
}

export function rawSession(port: number): ClientHttp2Session {
  return connect(`http://127.0.0.1:${port}`, lax)
}

export function headOf(path: string): string[] {
  return [
    ...[':method', 'POST', ':path', path, ':scheme', 'http', ':authority', '127.0.0.1'],
    ...['content-type', 'application/grpc', 'te', 'trailers'],
  ]
}

export function answerOf(stream: ClientHttp2Stream): Promise<RawAnswer> {
  const pieces: Buffer[] = []
  let head: readonly string[] = []
  let trailers: readonly string[] | null = null
  return new Promise((resolve, reject) => {
    stream
      .on('response', (_, __, raw: string[]) => (head = raw))
      .on('trailers', (_, __, raw?: string[]) => (trailers = raw ?? []))
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => resolve({ head, body: Buffer.concat(pieces), trailers: trailers ?? head }))
      .on('error', reject)
  })
}

export function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === name)
}
