// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { valueEnd } from '../../json/value.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import { keccak256 } from '../../integrity/keccak256.ts'
import { ResultDocument } from './result-document.ts'
import { hashAt } from './values.ts'
import { violation, type Violation } from './violation.ts'

const bloomBytes = 256
/** Each costs a digest. Of more, only whether there are any is compared. */
const mostMembers = 64

type BloomRule = Extract<CheckRule, { check: 'bloom' }>

/**
 * The bloom filter of a receipt is that of its logs (yellow paper, section 4.3.1): logs that are
 * left out, or of another address, show. A filter of zeros says nothing: chains that have none write
 * it. In a list of receipts only such are found that have lost all logs.
 */
export function checkBloom(rule: BloomRule, document: ResultDocument): Violation | null {
  const { bytes, span } = document
  if (!rule.each) return compare(rule, document, mostMembers)
  if (bytes[span.start] !== 0x5b) return null
  const cursor = new ItemCursor(bytes, span.start, document.skippedAt([]))
  while (cursor.next()) {
    const end = valueEnd(bytes, cursor.start)
    const item = new ResultDocument(bytes, { start: cursor.start, end })
    const found = compare(rule, item, 0)
    if (found) return { ...found, evidence: `item ${cursor.index}: ${found.evidence}` }
    cursor.ended(end)
  }
  return null
}

function compare(rule: BloomRule, document: ResultDocument, most: number): Violation | null {
  const { bytes } = document
  const array = document.at([rule.logs])
  const told = document.at([rule.bloom])
  const text = told && hashAt(bytes, told.start, told.end)
  if (array === null || text === null || bytes[array.start] !== 0x5b) return null
  if (text.length !== 2 * bloomBytes || /^0*$/.test(text)) return null
  const cursor = new ItemCursor(bytes, array.start)
  if (!cursor.next()) return violation('bloom', `no log, though ${rule.bloom} is not empty`)
  if (most === 0) return null
  const members = membersOf(bytes, cursor, most)
  if (members === null || bloomOf(members) === text) return null
  return violation('bloom', `the ${cursor.index + 1} logs do not make up ${rule.bloom}`)
}

/** Addresses and topics, each once; null when there are too many, or they are told otherwise. */
function membersOf(
  bytes: Uint8Array,
  cursor: ItemCursor,
  most: number,
): ReadonlySet<string> | null {
  const members = new Set<string>()
  const fields = new FieldReader(['address', 'topics'])
  do {
    if (!cursor.isObject) return null
    cursor.ended(fields.read(bytes, cursor.start))
    if (!fields.holds(bytes, 0) || !fields.holds(bytes, 1)) return null
    members.add(hashAt(bytes, fields.start(0), fields.end(0)) ?? '')
    if (bytes[fields.start(1)] !== 0x5b) return null
    const topics = new ItemCursor(bytes, fields.start(1))
    while (topics.next()) {
      const { start } = topics
      topics.skip()
      members.add(hashAt(bytes, start, topics.end) ?? '')
    }
    if (members.size > most) return null
  } while (cursor.next())
  return members
}

function bloomOf(members: ReadonlySet<string>): string {
  const bloom = Buffer.alloc(bloomBytes)
  for (const member of members) {
    const digest = keccak256(Buffer.from(member, 'hex'))
    for (const at of [0, 2, 4]) {
      const bit = digest.readUInt16BE(at) % (8 * bloomBytes)
      const byte = bloomBytes - 1 - (bit >> 3)
      bloom[byte] = (bloom[byte] as number) | (1 << (bit & 7))
    }
  }
  return bloom.toString('hex')
}
