// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/**
 * What undoes a `Content-Encoding` of an upstream: the router asks for none, but some answer with
 * one. Null for a coding that the router does not know.
 */
export function createDecoder(encoding: string): Transform | null {
  return decoders[encoding.trim().toLowerCase()]?.() ?? null
}
