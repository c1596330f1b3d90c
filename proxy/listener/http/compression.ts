// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gunzip, gzip } from 'node:zlib'
import { clientLimits } from '../../bytes/limits.ts'
import { RelayError, errorKinds, overloaded } from '../../relay/errors.ts'
import type { ListenerOptions } from '../listener.ts'

/** Compressing a shorter body costs more than it saves. */
export const gzipFromBytes = 4 * 1024

/** The fastest level achieves most of the gain on JSON. */
const gzipOptions = { level: constants.Z_BEST_SPEED }

const gzipAsync = promisify(gzip)
const gunzipAsync = promisify(gunzip)

/** Whether `Accept-Encoding` allows gzip, by name or `*`, with a q above 0 (RFC 9110, 12.5.3). */
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

/** Compresses a stream. Fails with its source, and closes the source when its reader stops. */
export function gzipStream(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  // The reader receives the error; the callback only prevents an unhandled rejection.
  return pipeline(body, createGzip(gzipOptions), () => undefined)
}

const { inflation } = clientLimits

/**
 * Decodes the `Content-Encoding` of a request.
 * @throws RelayError for an unknown coding, invalid bytes, or a result above the limit
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

/** Error for a request above the limit. */
export function tooLarge(maxBytes: number): RelayError {
  return new RelayError(
    errorKinds.tooLarge,
    `the request body is larger than the ${maxBytes} bytes that this router accepts`,
  )
}
