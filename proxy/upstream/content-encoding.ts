// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

const decoders: Readonly<
  Record<string, (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/**
 * Undoes a `Content-Encoding` of an upstream: the router asks for none, but some answer with one.
 * @throws Error when the encoding is unknown, the bytes are broken or the result is over `maxBytes`
 */
export function decodeContent(
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const decode = decoders[encoding.trim().toLowerCase()]
  if (!decode) return Promise.reject(new Error('content encoding that the router does not know'))
  return decode(body, { maxOutputLength: maxBytes })
}
