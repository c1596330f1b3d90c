// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectCursor } from '../../json/object-cursor.ts'
import { bufferOf } from '../../json/text.ts'
import { toBlockNumber } from '../../upstream/block-number.ts'
import type { Link } from '../link.ts'

/** What a block has beyond its header; a head is told without. */
const notOfHeader: ReadonlySet<string> = new Set([
  'transactions',
  'uncles',
  'withdrawals',
  'size',
  'totalDifficulty',
])

/** No header is longer: most have less than 2 kB. */
const mostEventBytes = 64 * 1024

/**
 * A block or a header as the link that it is, its event being the header as a node tells a new
 * head: the members of the block that are the header's, byte for byte.
 * @returns null for what is no block, such as `null`
 */
export function readHead(bytes: Uint8Array): Link | null {
  if (bytes[0] !== 0x7b) return null
  const text = bufferOf(bytes)
  const parts: string[] = []
  const values = new Map<string, string>()
  let isWhole = true
  const cursor = new ObjectCursor(bytes, 0)
  while (cursor.next()) {
    const name = text.toString('latin1', cursor.nameStart + 1, cursor.nameEnd - 1)
    if (notOfHeader.has(name)) {
      isWhole = false
      continue
    }
    values.set(name, text.toString('latin1', cursor.valueStart + 1, cursor.valueEnd - 1))
    parts.push(text.toString('utf8', cursor.nameStart, cursor.valueEnd))
  }
  const number = toBlockNumber(values.get('number'), 'hex')
  const id = hashOf(values.get('hash'))
  const parent = hashOf(values.get('parentHash'))
  if (cursor.end < 0 || number === null || id === null || parent === null) return null
  const event = isWhole ? bytes : Buffer.from(`{${parts.join(',')}}`)
  return event.length > mostEventBytes ? null : { number, id, parent, event }
}

/** What a node pushes is told as it came, whatever members it has; only what is too long is cut down. */
export function readPushedHead(bytes: Uint8Array): Link | null {
  const link = readHead(bytes)
  return link && bytes.length <= mostEventBytes ? { ...link, event: bytes } : link
}

function hashOf(text: string | undefined): string | null {
  return text !== undefined && /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null
}
