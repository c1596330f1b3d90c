// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import { constants, crc32, zstdCompress, zstdDecompress } from 'node:zlib'
import * as z from 'zod'
import { nodeLimits } from '../bytes/limits.ts'
import { ageClasses } from '../config/schema.ts'
import { type Answer, bytesOf } from './entry.ts'

const maxBytes = nodeLimits.wholeBytes

const count = z.int().min(0)
/** Valid names and values, which alternate. */
const headerForms = [/^[!#-'*+.^-`|~\w-]+$/, /^[\t -~\x80-\xff]*$/] as const
const headerList = z
  .array(z.string())
  .refine((list) => list.every((each, at) => headerForms[at % 2]?.test(each)))
  .refine(({ length }) => length % 2 === 0)
  .readonly()
/** Head of an entry. It is validated, because others may have write access to the store. */
const headSchema = z.object({
  headers: headerList,
  trailers: headerList,
  upstream: z.string().regex(/^[ -~]{1,128}$/),
  latestBlock: count.nullable(),
  ageClass: z.enum(ageClasses),
  isEmpty: z.boolean(),
  head: z.int().min(-1),
  /** Number of reorgs that the replicas had seen when the request was sent. */
  reorgs: count,
  /** When the entry was stored, in milliseconds since the Unix epoch, and its TTL. */
  storedWallMs: z.number(),
  ttlMs: z.number().positive(),
  bodyBytes: count.max(maxBytes),
})

/** An entry of the shared store. */
export type SharedEntry = Omit<z.output<typeof headSchema>, 'bodyBytes'> & Pick<Answer, 'body'>

/** Format version. Other versions ignore the entry. */
const version = Buffer.from('RPC2')
/** Length of the version, the checksum of name and content, and the length of the head. */
const prefixBytes = 12
/** Longer bodies are compressed. */
const minCompressedBytes = 1024
/** Longer entries would take too much of the lookup timeout. */
const maxPackedBytes = 2 * 1024 * 1024
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
/** Limits the memory for decompression to the longest body. */
const params = { [constants.ZSTD_d_windowLogMax]: Math.log2(maxBytes) }

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
  const end = prefixBytes + bytes.readUInt32BE(8)
  if (end > bytes.length || bytes.length - end > maxPackedBytes) return null
  if (crc32(bytes.subarray(prefixBytes), crc32(name)) !== bytes.readUInt32BE(4)) return null
  try {
    const head = headSchema.parse(JSON.parse(bytes.toString('utf8', prefixBytes, end)))
    const { bodyBytes: maxOutputLength, ...rest } = head
    const packed = bytes.subarray(end)
    const isCompressed = maxOutputLength > minCompressedBytes
    const body = isCompressed ? await decompress(packed, { maxOutputLength, params }) : packed
    return body.length === maxOutputLength ? { ...rest, body } : null
  } catch {
    return null
  }
}
