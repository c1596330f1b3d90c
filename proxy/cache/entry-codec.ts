// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import { crc32, zstdCompress, zstdDecompress } from 'node:zlib'
import { nodeLimits } from '../bytes/limits.ts'
import { type Answer, bytesOf, type Entry } from './entry.ts'

/** An entry as replicas share it. */
export interface SharedEntry extends Answer, Pick<Entry, 'ageClass' | 'head'> {
  /** How many reorgs the replicas had seen when it was asked for. */
  readonly reorgs: number
  /** Milliseconds since the Unix epoch. */
  readonly expiresWallMs: number
}

/** Another version of the router reads nothing of what this one wrote. */
const version = Buffer.from('RPC1')
/** The version, a checksum of what follows, and the length of the head. */
const prefixBytes = 12
/** Longer bodies are compressed. */
const minCompressedBytes = 1024
const maxBytes = nodeLimits.wholeBytes
/** Longer ones take too much of the time of a lookup on their way. */
const maxPackedBytes = 2 * 1024 * 1024
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** @returns null for one that is too long */
export async function encodeEntry(entry: SharedEntry): Promise<Buffer | null> {
  const { body, ...rest } = entry
  if (body.length > maxBytes) return null
  const bytes = bytesOf(entry)
  const isCompressed = bytes.length > minCompressedBytes
  const packed = isCompressed ? await compress(bytes) : bytes
  if (packed.length > maxPackedBytes) return null
  const head = Buffer.from(JSON.stringify({ ...rest, isCompressed }))
  const prefix = Buffer.alloc(prefixBytes)
  version.copy(prefix)
  prefix.writeUInt32BE(crc32(packed, crc32(head)), 4)
  prefix.writeUInt32BE(head.length, 8)
  return Buffer.concat([prefix, head, packed])
}

/** @returns null for what this version did not write, or not like this */
export async function decodeEntry(bytes: Buffer): Promise<SharedEntry | null> {
  if (bytes.length < prefixBytes || !bytes.subarray(0, 4).equals(version)) return null
  const end = prefixBytes + bytes.readUInt32BE(8)
  if (end > bytes.length || crc32(bytes.subarray(prefixBytes)) !== bytes.readUInt32BE(4))
    return null
  try {
    const head = JSON.parse(bytes.toString('utf8', prefixBytes, end)) as Omit<SharedEntry, 'body'>
    const { isCompressed, ...rest } = head as typeof head & { readonly isCompressed: boolean }
    const packed = bytes.subarray(end)
    const body = isCompressed ? await decompress(packed, { maxOutputLength: maxBytes }) : packed
    return { ...rest, body }
  } catch {
    return null
  }
}
