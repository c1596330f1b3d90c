// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gunzip, gzip } from 'node:zlib'
import { RelayError, errorKinds } from '../../relay/errors.ts'

/** Below this a gzip frame and its CPU cost more than they save. */
export const gzipFromBytes = 4 * 1024

/** The least effort takes most of the win on JSON. */
const gzipOptions = { level: constants.Z_BEST_SPEED }

const gzipAsync = promisify(gzip)
const gunzipAsync = promisify(gunzip)

/** Whether an `Accept-Encoding` asks for gzip at least as much as for the bare body (RFC 9110, 12.5.3). */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  if (acceptEncoding === null) return false
  let gzipQuality: number | null = null
  let anyQuality: number | null = null
  let identityQuality = 0
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
    const quality = qualityOf(parameters)
    if (coding === 'gzip' || coding === 'x-gzip') gzipQuality = Math.max(gzipQuality ?? 0, quality)
    else if (coding === '*') anyQuality = quality
    else if (coding === 'identity') identityQuality = quality
  }
  const quality = gzipQuality ?? anyQuality ?? 0
  return quality > 0 && quality >= identityQuality
}

/** 1 where none is given; 0 for one that is no number. */
function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const match = /^q\s*=\s*(.*)$/.exec(parameter)
    if (match)
      return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(match[1] ?? '') ? Number(match[1]) : 0
  }
  return 1
}

/** Compresses off the main thread. */
export function gzipBytes(body: Uint8Array): Promise<Uint8Array> {
  return gzipAsync(body, gzipOptions)
}

/** The same stream, compressed. It fails when the source does, and ends the source when left. */
export function gzipStream(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  // The error reaches whoever reads the result; the callback only keeps it from being unhandled.
  return pipeline(body, createGzip(gzipOptions), () => undefined)
}

/**
 * Undoes the `Content-Encoding` of a request.
 * @throws RelayError when the coding is unknown, the bytes are broken, or the result is over the limit
 */
export async function decodeBody(
  coding: string,
  body: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  switch (coding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return body
    case 'gzip':
    case 'x-gzip':
      return gunzipAsync(body, { maxOutputLength: maxBytes }).catch((cause: unknown) => {
        throw isTooLong(cause) ? tooLarge(maxBytes) : brokenGzip(cause)
      })
    default:
      throw new RelayError(
        errorKinds.unsupportedEncoding,
        'the Content-Encoding of the request is not supported; send the body plain or as gzip',
      )
  }
}

/** The one wording for a request over the limit. */
export function tooLarge(maxBytes: number): RelayError {
  return new RelayError(
    errorKinds.tooLarge,
    `the request body is larger than the ${maxBytes} bytes that this router takes`,
  )
}

function brokenGzip(cause: unknown): RelayError {
  return new RelayError(errorKinds.parse, 'the request body is not the gzip that it claims to be', {
    cause,
  })
}

function isTooLong(cause: unknown): boolean {
  return cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE'
}
