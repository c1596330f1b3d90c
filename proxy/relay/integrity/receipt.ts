// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import type { OmissionMemory } from './omission-memory.ts'
import type { ResultDocument } from './result-document.ts'
import { numberAt } from './values.ts'
import { doubtful, violation, type Violation } from './violation.ts'

/** The names of what is looked at. */
export const receiptMembers: readonly string[] = [
  ...['gasUsed', 'cumulativeGasUsed', 'status', 'logs', 'root', 'type'],
]
const [gasUsed, cumulative, status, logs, root, type] = [0, 1, 2, 3, 4, 5] as const

/**
 * What a receipt of Ethereum used is part of what was used up to it, and what failed has no logs.
 * Not that the sum is exact: a fork may count for the block what the sender gets back (EIP-7778).
 */
export function checkReceipt(
  { each }: Extract<CheckRule, { check: 'receipt' }>,
  document: ResultDocument,
  teller: string,
  memory: OmissionMemory,
): Violation | null {
  const { bytes, span } = document
  const fields = new FieldReader(receiptMembers)
  if (!each) {
    if (bytes[span.start] !== 0x7b) return null
    fields.read(bytes, span.start)
    return judge(bytes, fields, 0, '') ?? doubtOf('')
  }
  if (bytes[span.start] !== 0x5b) return null
  const cursor = new ItemCursor(bytes, span.start, document.skippedAt([]))
  let before = 0
  let doubt: Violation | null = null
  while (cursor.next()) {
    if (!cursor.isObject) return null
    cursor.ended(fields.read(bytes, cursor.start))
    const found = judge(bytes, fields, before, `item ${cursor.index}: `)
    if (found?.certain) return found
    doubt ??= found ?? doubtOf(`item ${cursor.index}: `)
    // Of a long list only the last one before this is still there: what came before one without a sum is not known.
    const sum = valueOf(bytes, fields, cumulative)
    before = Number.isNaN(sum) ? 0 : sum
  }
  return doubt

  function doubtOf(where: string): Violation | null {
    const missing = missingIn(bytes, fields)
    if (missing === null) memory.shown()
    if (missing === null || memory.leftOut(teller)) return null
    return doubtful('receipt', `${where}${missing}`)
  }
}

/**
 * It tells how it ended. Of what is older than the Byzantium fork some nodes have nothing to tell; what
 * is typed is younger, and its `root` tells nothing.
 */
function missingIn(bytes: Uint8Array, fields: FieldReader): string | null {
  if (fields.holds(bytes, status)) return null
  const isTyped = valueOf(bytes, fields, type) > 0
  if (fields.holds(bytes, root) && !isTyped) return null
  return isTyped ? 'no status' : 'neither status nor root'
}

function judge(
  bytes: Uint8Array,
  fields: FieldReader,
  before: number,
  where: string,
): Violation | null {
  const gas = judgeGas(bytes, fields, before, where)
  if (gas?.certain) return gas
  const state = valueOf(bytes, fields, status)
  if (state > 1) return violation('receipt', `${where}status is ${state}`)
  const list = fields.start(logs)
  const hasLogs = list >= 0 && bytes[list] === 0x5b && new ItemCursor(bytes, list).next()
  return state === 0 && hasLogs ? violation('receipt', `${where}logs of what failed`) : gas
}

/**
 * A sum of zero tells nothing: zkSync and Filecoin write it into all receipts, Polygon beside no gas
 * into those of its bridge, so beside other sums and gas it is only doubted. So is the same sum once
 * more, for Hedera writes that of the block into all of them.
 */
function judgeGas(
  bytes: Uint8Array,
  fields: FieldReader,
  before: number,
  where: string,
): Violation | null {
  const used = valueOf(bytes, fields, gasUsed)
  const sum = valueOf(bytes, fields, cumulative)
  if (sum === 0 && !(used > 0 && before > 0)) return null
  const certain = sum !== 0 && sum !== before
  if (used + before > sum) {
    const evidence = `${where}gasUsed ${used} after ${before}, but ${sum} in all`
    return { check: 'receipt', evidence, certain }
  }
  return sum < before
    ? violation('receipt', `${where}cumulativeGasUsed ${sum} after ${before}`)
    : null
}

/** NaN for what is not told. */
function valueOf(bytes: Uint8Array, fields: FieldReader, index: number): number {
  return fields.holds(bytes, index) ? numberAt(bytes, fields.start(index), fields.end(index)) : NaN
}
