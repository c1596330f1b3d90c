// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Check, CheckPath, CheckRule } from '../../chain/check-rule.ts'
import type { BlockRef } from '../../chain/types.ts'
import { bitcoinHeaderMembers } from './bitcoin-header.ts'
import { feeHistoryMembers } from './fee-history.ts'
import { headerMembers } from './header-digest.ts'
import { ItemCursor } from './item-cursor.ts'
import { logMembers } from './log-at-hand.ts'
import { receiptMembers } from './receipt.ts'
import type { ResultDocument } from './result-document.ts'

/*
 * What a rule needs of a result that is too long to be looked at as a whole.
 */

/** Where the list stands that a rule goes through; null when it goes through none. */
export function listOf(rule: CheckRule): CheckPath | null {
  switch (rule.check) {
    case 'logs':
    case 'heights':
      return []
    case 'items':
    case 'length':
    case 'limit':
    case 'sequence':
      return rule.result
    case 'hashed':
      return rule.each
    case 'header':
      return rule.form === 'bitcoin' ? ['tx'] : null
    case 'identity':
      return rule.each ? [] : null
    case 'bloom':
      return rule.each ? [] : [rule.logs]
    case 'receipt':
    case 'parent':
      return rule.each ? [] : null
    default:
      return null
  }
}

/** Names of members that a rule may look at, and perhaps some more. */
export function namesOf(rule: CheckRule): readonly string[] {
  const own = Object.entries(rule)
    .filter(([key]) => !['check', 'place', 'when'].includes(key))
    .flatMap(([, value]) => textsIn(value))
  if (rule.check === 'header') return rule.form === 'bitcoin' ? bitcoinHeaderMembers : headerMembers
  if (rule.check === 'receipt') return receiptMembers
  if (rule.check === 'fee-history') return feeHistoryMembers
  if (rule.check === 'root') return [rule.list, rule.root]
  if (rule.check === 'bloom') return [...own, 'address', 'topics']
  return rule.check === 'logs' ? logMembers : own
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (value instanceof Map) return [...value].flatMap(textsIn)
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : []
}

/** Whether a rule can be judged by a part of the result, whatever is still to come. */
export function isTold({ rule }: Check, part: ResultDocument, asked: BlockRef): boolean {
  // So many items, and the bloom filter of so many logs, are those of the whole.
  if (rule.check === 'length' || (rule.check === 'bloom' && !rule.each)) return false
  if (rule.check === 'receipt' && !rule.each) return false
  // Hashes and sums are those of the whole.
  if (['header', 'transaction', 'root', 'fee-history'].includes(rule.check)) return false
  const list = listOf(rule)
  if (list) return isListTold(list, part)
  const { bytes, span } = part
  // What is no object says by its beginning all that it has to say.
  if (bytes[span.start] !== 0x7b) return true
  return pathsOf(rule, asked).every((path) => path === null || part.at(path) !== null)
}

/** Whether it can be judged by the last part, before which items may have passed. */
export function isWhole({ rule }: Check, last: ResultDocument): boolean {
  // Of a long transaction not all is kept.
  if (rule.check === 'transaction') return false
  return rule.check !== 'bloom' || rule.each || last.skippedAt([rule.logs]) === 0
}

/** It is no list, or has an item. */
function isListTold(path: CheckPath, part: ResultDocument): boolean {
  const { bytes } = part
  const span = part.at(path)
  if (span === null) return false
  return bytes[span.start] !== 0x5b || new ItemCursor(bytes, span.start).next()
}

function pathsOf(rule: CheckRule, asked: BlockRef): readonly (CheckPath | null)[] {
  switch (rule.check) {
    case 'block':
      return [asked.kind === 'hash' ? rule.hash : rule.number]
    case 'identity':
    case 'expected':
    case 'sent':
    case 'least':
      return [rule.result]
    case 'contains':
      return [rule.from, rule.to]
    case 'hashed':
      return [rule.data, rule.result]
    case 'shape': {
      const wanted = [...rule.members].filter(([, shape]) => !shape.endsWith('?'))
      return [rule.result, ...wanted.map(([name]) => [...rule.result, name])]
    }
    case 'parent':
      return [rule.number, rule.hash, rule.parent]
    default:
      return []
  }
}
