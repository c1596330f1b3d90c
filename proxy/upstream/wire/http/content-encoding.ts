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

/** No coding at all; and what some servers write there by mistake, the text's own encoding. */
const plain: ReadonlySet<string> = new Set(['', 'identity', 'utf-8', 'utf8'])

/** Whether the bytes are what they stand for. */
export function isPlainCoding(encoding: string | null): boolean {
  return encoding === null || plain.has(encoding.trim().toLowerCase())
}

/**
 * What undoes a `Content-Encoding` of an upstream: the router asks for gzip at most, but some answer with
 * another one. Null for a coding that the router does not know.
 */
export function createDecoder(encoding: string): Transform | null {
  return decoders[encoding.trim().toLowerCase()]?.() ?? null
}
