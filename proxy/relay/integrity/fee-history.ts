// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule } from '../../chain/check-rule.ts'
import { mayPend, type HeightAsked } from './block-range.ts'
import { shownSpan } from './block.ts'
import { ItemCursor } from './item-cursor.ts'
import type { ResultDocument } from './result-document.ts'
import { isOf } from './shape.ts'
import { isNull, numberAt, shownAt, toNumber } from './values.ts'
import { doubtful, violation, type Violation } from './violation.ts'

/** The names of what is looked at. */
export const feeHistoryMembers: readonly string[] = [
  ...['gasUsedRatio', 'baseFeePerGas', 'reward', 'oldestBlock'],
  ...['blobGasUsedRatio', 'baseFeePerBlobGas'],
]

const valueLists = [
  'baseFeePerGas',
  'baseFeePerBlobGas',
  'gasUsedRatio',
  'blobGasUsedRatio',
] as const

type FeeHistoryRule = Extract<CheckRule, { check: 'fee-history' }>

/**
 * Ethereum's fee history ends with the block asked for and has no more blocks than were wanted.
 * Fewer are right where the node limits them, then those are missing that came first; a node that
 * misses others, or all, may be in the middle of a reorganisation, so somebody else is asked, without
 * blame. What it says of the pending block is its own.
 */
export function checkFeeHistory(
  { rewards }: FeeHistoryRule,
  document: ResultDocument,
  asked: HeightAsked,
  wanted: unknown,
): Violation | null {
  if (rewards) return checkRewards(document, wanted)
  const notList = checkLists(document)
  if (notList) return notList
  const count = toNumber(wanted)
  const ratios = countAt(document, 'gasUsedRatio')
  const fees = countAt(document, 'baseFeePerGas')
  // Of no blocks there is nothing to say.
  if (!(count > 0)) return null
  if (ratios === null || ratios === 0 || fees === null)
    return mayPend(asked.block) ? null : doubtful('shape', `asked for ${count} blocks, got none`)
  if (ratios > count) return violation('items-count', `asked for ${count} blocks, got ${ratios}`)
  // Behind the last block comes the fee of the next one.
  if (fees !== ratios + 1)
    return violation('items-count', `${fees} fees of ${ratios} blocks and the next one`)
  const rows = countAt(document, 'reward')
  if (rows !== null && rows !== 0 && rows !== ratios)
    return violation('items-count', `${rows} rewards of ${ratios} blocks`)
  const found = [
    checkHeights(document, asked, count, ratios),
    checkValues(document),
    checkBlobs(document, ratios),
  ]
  return found.find((each) => each?.certain) ?? found.find((each) => each !== null) ?? null
}

/** Null is no list, and nothing else stands in the place of one. */
function checkLists(document: ResultDocument): Violation | null {
  for (const name of ['reward', ...valueLists]) {
    const span = document.at([name])
    const first = span && document.bytes[span.start]
    if (span && first !== 0x5b && !isNull(document.bytes, span.start))
      return violation('shape', `${name} is ${shownSpan(document.bytes, span)}`)
  }
  return null
}

/** Where there are lists of blobs, they are as long as the others. Some nodes may have their reasons. */
function checkBlobs(document: ResultDocument, ratios: number): Violation | null {
  for (const [name, wanted] of [
    ['blobGasUsedRatio', ratios],
    ['baseFeePerBlobGas', ratios + 1],
  ] as const) {
    const got = countAt(document, name)
    if (got !== null && got !== 0 && got !== wanted)
      return doubtful('items-count', `${got} items of ${name} for ${ratios} blocks`)
  }
  return null
}

/** Which blocks it is about, by the oldest and how many there are. */
function checkHeights(
  document: ResultDocument,
  { block: asked, horizon }: HeightAsked,
  count: number,
  ratios: number,
): Violation | null {
  const span = document.at(['oldestBlock'])
  const oldest = span === null ? NaN : numberAt(document.bytes, span.start, span.end)
  if (Number.isNaN(oldest)) return null
  const newest = oldest + ratios - 1
  const got = `got ${oldest} to ${newest}`
  if (asked.kind === 'tag' && !mayPend(asked) && newest > (horizon() ?? Infinity))
    return doubtful('block-number', `asked for blocks up to ${asked.tag}, ${got}`)
  if (asked.kind !== 'number') return null
  if (newest > asked.number || oldest < asked.number - count + 1)
    return violation('block-number', `asked for ${count} blocks up to ${asked.number}, ${got}`)
  if (newest === asked.number) return null
  return doubtful('items-count', `asked for blocks up to ${asked.number}, ${got}`)
}

/** Null stands for what some nodes cannot tell, and so do shares above the whole. */
function checkValues(document: ResultDocument): Violation | null {
  let found: Violation | null = null
  for (const name of valueLists)
    eachItem(document, name, (bytes, start, end) => {
      const isShare = name.endsWith('Ratio')
      const fits = isOf(isShare ? 'number' : 'quantity', bytes, start, end)
      if (
        fits &&
        !(isShare && Number(Buffer.from(bytes.subarray(start, end)).toString('latin1')) > 1)
      )
        return
      const certain = !fits && !isNull(bytes, start)
      if (found && (found.certain || !certain)) return
      found = { check: 'shape', evidence: `${name} holds ${shownAt(bytes, start, end)}`, certain }
    })
  return found
}

/** Each block has as many rewards as percentiles were asked for. */
function checkRewards(document: ResultDocument, wanted: unknown): Violation | null {
  if (!Array.isArray(wanted)) return null
  let found: Violation | null = null
  const hasRewards = eachItem(document, 'reward', (bytes, start, end) => {
    if (found) return
    if (bytes[start] !== 0x5b) {
      const evidence = `reward holds ${shownAt(bytes, start, end)}`
      found = { check: 'shape', evidence, certain: !isNull(bytes, start) }
      return
    }
    const cursor = new ItemCursor(bytes, start)
    while (cursor.next()) {
      const { start: first } = cursor
      cursor.skip()
      if (!isOf('quantity', bytes, first, cursor.end))
        found ??= violation('shape', `a reward is ${shownAt(bytes, first, cursor.end)}`)
    }
    const count = cursor.index + 1
    if (count !== wanted.length)
      found ??= violation('items-count', `asked for ${wanted.length} percentiles, got ${count}`)
  })
  const isMissing = !hasRewards && wanted.length > 0 && (countAt(document, 'gasUsedRatio') ?? 0) > 0
  return (
    found ?? (isMissing ? doubtful('items-count', 'percentiles were asked for, got none') : null)
  )
}

/** How long a list is; null where there is none. */
function countAt(document: ResultDocument, name: string): number | null {
  let count = 0
  return eachItem(document, name, () => count++) ? count : null
}

/** @returns whether there is such a list */
function eachItem(
  document: ResultDocument,
  name: string,
  see: (bytes: Uint8Array, start: number, end: number) => void,
): boolean {
  const { bytes } = document
  const list = document.at([name])
  if (list === null || bytes[list.start] !== 0x5b) return false
  const cursor = new ItemCursor(bytes, list.start)
  while (cursor.next()) {
    const { start } = cursor
    cursor.skip()
    see(bytes, start, cursor.end)
  }
  return true
}
