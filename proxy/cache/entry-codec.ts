// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import { crc32, zstdCompress, zstdDecompress } from 'node:zlib'
import { nodeLimits } from '../bytes/limits.ts'
import type { AgeClass } from '../config/types.ts'
import { type Answer, bytesOf } from './entry.ts'

const maxBytes = nodeLimits.wholeBytes

/** An entry of the shared store. */
export interface SharedEntry extends Omit<Answer, 'status' | 'id' | 'refusal'> {
  readonly ageClass: AgeClass
  readonly isEmpty: boolean
  readonly head: number
  /** Number of reorgs that the replicas had seen when the request was sent. */
  readonly reorgs: number
  /** When the entry was stored, in milliseconds since the Unix epoch. */
  readonly storedWallMs: number
  readonly ttlMs: number
}

/** An entry as it is stored, before its body. */
type Head = Omit<SharedEntry, 'body'> & { readonly bodyBytes: number }

/** Version of the format and of the entry's fields. Other versions ignore the entry. */
const version = Buffer.from('RPC2')

/** Length of the version, the checksum of name and content, and the length of the head. */
const prefixBytes = 12
/** Longer bodies are compressed. */
const minCompressedBytes = 1024
/** Longer entries would take too much of the lookup timeout. */
const maxPackedBytes = 2 * 1024 * 1024
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
/** @param name digest of the key @returns null if the entry is too long */
export async function encodeEntry(name: string, entry: SharedEntry): Promise<Buffer | null> {
  const { body, ...rest } = entry
  if (body.length > maxBytes) return null
  const bytes = bytesOf(entry)
  const packed = bytes.length > minCompressedBytes ? await compress(bytes) : bytes
  if (packed.length > maxPackedBytes) return null
  const head = Buffer.from(JSON.stringify({ ...rest, bodyBytes: bytes.length }))
  const prefix = Buffer.alloc(prefixBytes)
  version.copy(prefix)
  prefix.writeUInt32BE(crc32(packed, crc32(head, crc32(name))), 4)
  prefix.writeUInt32BE(head.length, 8)
  return Buffer.concat([prefix, head, packed])
}

/** @returns null for any bytes that this version did not write under this name; never throws */
export async function decodeEntry(name: string, bytes: Buffer): Promise<SharedEntry | null> {
  if (bytes.length < prefixBytes || !bytes.subarray(0, 4).equals(version)) return null
  if (crc32(bytes.subarray(prefixBytes), crc32(name)) !== bytes.readUInt32BE(4)) return null
  try {
    const end = prefixBytes + bytes.readUInt32BE(8)
    const head = JSON.parse(bytes.toString('utf8', prefixBytes, end)) as Head
    const { bodyBytes: maxOutputLength, ...rest } = head
    const packed = bytes.subarray(end)
    const isCompressed = maxOutputLength > minCompressedBytes
    const body = isCompressed ? await decompress(packed, { maxOutputLength }) : packed
    return body.length === maxOutputLength ? { ...rest, body } : null
  } catch {
    return null
  }
}
