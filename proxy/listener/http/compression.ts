// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gunzip, gzip } from 'node:zlib'
import { clientLimits } from '../../bytes/limits.ts'
import { RelayError, errorKinds, overloaded } from '../../relay/errors.ts'
import type { ListenerOptions } from '../listener.ts'

/** Below this gzip costs more than it saves. */
export const gzipFromBytes = 4 * 1024

/** The fastest level has most of the gain on JSON. */
const gzipOptions = { level: constants.Z_BEST_SPEED }

const gzipAsync = promisify(gzip)
const gunzipAsync = promisify(gunzip)

/** Whether an `Accept-Encoding` allows gzip, by name or by `*`, without the quality 0 (RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  const entries = (acceptEncoding ?? '').toLowerCase().split(',')
  const entry =
    entries.find((each) => /^\s*(?:x-)?gzip\s*(?:;|$)/.test(each)) ??
    entries.find((each) => /^\s*\*/.test(each))
  return entry !== undefined && !/;\s*q\s*=\s*0(?:\.0*)?\s*$/.test(entry)
}

/** Compresses off the main thread. */
export function gzipBytes(body: Uint8Array): Promise<Uint8Array> {
  return gzipAsync(body, gzipOptions)
}

/** The same stream, compressed. It fails when the source does, and ends the source when its reader leaves. */
export function gzipStream(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  // The error reaches the reader; the callback only keeps it from being unhandled.
  return pipeline(body, createGzip(gzipOptions), () => undefined)
}

const { inflation } = clientLimits

/**
 * Undoes the `Content-Encoding` of a request.
 * @throws RelayError when the coding is unknown, the bytes are broken, or the result is over a bound
 */
export async function decodeBody(
  coding: string,
  body: Uint8Array,
  { maxRequestBytes, budget }: Pick<ListenerOptions, 'maxRequestBytes' | 'budget'>,
): Promise<Uint8Array> {
  const name = coding.trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  if (name !== 'gzip' && name !== 'x-gzip')
    throw new RelayError(
      errorKinds.unsupportedEncoding,
      'the Content-Encoding of the request is not supported; send the body plain or as gzip',
    )
  const allowedBytes = Math.max(inflation.bytes, inflation.ratio * body.length)
  const maxBytes = Math.min(maxRequestBytes, allowedBytes)
  try {
    const plain = await gunzipAsync(body, { maxOutputLength: maxBytes })
    if (budget.allows(0, plain.length)) return plain
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    if (isTooLarge && maxBytes === maxRequestBytes) throw tooLarge(maxBytes)
    const message = isTooLarge
      ? `the request body inflates to more than ${inflation.ratio} times its length; send it plain`
      : 'the request body is not the gzip that it claims to be'
    throw new RelayError(isTooLarge ? errorKinds.tooLarge : errorKinds.parse, message, { cause })
  }
  throw overloaded()
}

/** The error for a request over the limit. */
export function tooLarge(maxBytes: number): RelayError {
  return new RelayError(
    errorKinds.tooLarge,
    `the request body is larger than the ${maxBytes} bytes that this router takes`,
  )
}
