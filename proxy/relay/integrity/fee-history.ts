// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef } from '../../chain/types.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { numberAt, toNumber } from './values.ts'
import { violation, type Violation } from './violation.ts'

/** The names of what is looked at. */
export const feeHistoryMembers: readonly string[] = [
  'gasUsedRatio',
  'baseFeePerGas',
  'reward',
  'oldestBlock',
]

/**
 * Ethereum's fee history ends with the block asked for and has no more blocks than were wanted.
 * Fewer are right where the node limits them, then those are missing that came first; a node that
 * misses others may be in the middle of a reorganisation, so somebody else is asked, without blame.
 */
export function checkFeeHistory(
  document: ResultDocument,
  asked: BlockRef,
  wanted: unknown,
): Violation | null {
  const count = toNumber(wanted)
  const ratios = countAt(document, 'gasUsedRatio')
  // Of no blocks there is nothing to say.
  if (!(count > 0) || ratios === null || ratios === 0) return null
  if (ratios > count) return violation('items-count', `asked for ${count} blocks, got ${ratios}`)
  const fees = countAt(document, 'baseFeePerGas')
  // Behind the last block comes the fee of the next one.
  if (fees !== null && fees !== ratios + 1)
    return violation('items-count', `${fees} fees of ${ratios} blocks and the next one`)
  const rewards = countAt(document, 'reward')
  if (rewards !== null && rewards !== 0 && rewards !== ratios)
    return violation('items-count', `${rewards} rewards of ${ratios} blocks`)
  const span = document.at(['oldestBlock'])
  const oldest = span === null ? NaN : numberAt(document.bytes, span.start, span.end)
  if (asked.kind !== 'number' || Number.isNaN(oldest)) return null
  const newest = oldest + ratios - 1
  if (newest > asked.number || oldest < asked.number - count + 1)
    return violation(
      'block-number',
      `asked for ${count} blocks up to ${asked.number}, got ${oldest} to ${newest}`,
    )
  if (newest === asked.number) return null
  const evidence = `asked for blocks up to ${asked.number}, got ${oldest} to ${newest}`
  return { check: 'items-count', evidence, certain: false }
}

/** How long a list is; null where there is none. */
function countAt(document: ResultDocument, name: string): number | null {
  const list = document.at([name])
  if (list === null || document.bytes[list.start] !== 0x5b) return null
  const cursor = new ItemCursor(document.bytes, list.start)
  while (cursor.next()) cursor.skip()
  return cursor.index + 1
}
