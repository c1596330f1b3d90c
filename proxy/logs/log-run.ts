// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Cursor, membersOf, parseSpan, spaceEnd, spells } from '../json/scanner.ts'
import { toNumber } from '../json/values.ts'

/** Logs in block order, as the nodes wrote them. */
export interface LogRun {
  /** JSON of the logs, joined by commas. */
  readonly bytes: Buffer
  /** Blocks with logs, ascending. */
  readonly blocks: readonly number[]
  /** Offset of the first log of each of these blocks. */
  readonly starts: readonly number[]
}

interface Item {
  readonly block: number
  readonly index: number
  readonly bytes: Buffer
}

const noLogs: LogRun = { bytes: Buffer.alloc(0), blocks: [], starts: [] }

/**
 * Reads a list of logs. Sorts it if the node did not, and drops duplicates and logs outside the
 * range. The bytes are a copy.
 * @returns null for anything but a list of logs with block numbers
 */
export function readRun(json: Buffer, from: number, to: number): LogRun | null {
  const start = spaceEnd(json, 0)
  if (spells(json, start, json.length, 'null')) return noLogs
  if (json[start] !== 0x5b) return null
  const items: Item[] = []
  const cursor = new Cursor(json, start)
  let isSorted = true
  while (cursor.next()) {
    const item = itemOf(json, cursor.valueStart, cursor.valueEnd)
    if (item === null) return null
    if (item.block < from || item.block > to) continue
    const last = items.at(-1)
    isSorted &&= !last || order(last, item) < 0
    items.push(item)
  }
  return cursor.end < 0 ? null : runOf(isSorted ? items : distinct(items.toSorted(order)))
}

function itemOf(json: Buffer, start: number, end: number): Item | null {
  if (json[start] !== 0x7b) return null
  const { at } = membersOf(json, start, ['blockNumber', 'logIndex'])
  const numberAt = (span: (typeof at)[number]) =>
    span ? toNumber(parseSpan(json, span.start, span.end)) : null
  const block = numberAt(at[0])
  return block === null
    ? null
    : { block, index: numberAt(at[1]) ?? -1, bytes: json.subarray(start, end) }
}

function order(one: Item, other: Item): number {
  return one.block - other.block || one.index - other.index
}

function distinct(items: readonly Item[]): readonly Item[] {
  return items.filter((item, at) => {
    const before = items[at - 1]
    return item.index < 0 || !before || order(before, item) !== 0
  })
}

function runOf(items: readonly Item[]): LogRun {
  const blocks: number[] = []
  const starts: number[] = []
  const pieces: Buffer[] = []
  let length = 0
  for (const { block, bytes } of items) {
    if (length > 0) pieces.push(comma)
    length += length > 0 ? 1 : 0
    if (blocks.at(-1) !== block) {
      blocks.push(block)
      starts.push(length)
    }
    pieces.push(bytes)
    length += bytes.length
  }
  return items.length === 0 ? noLogs : { bytes: Buffer.concat(pieces, length), blocks, starts }
}

export const comma = Buffer.from(',')

/** Joins runs of ascending, disjoint ranges. */
export function joinRuns(runs: readonly LogRun[]): LogRun {
  const [first = noLogs, ...more] = runs.filter(({ blocks }) => blocks.length > 0)
  if (more.length === 0) return first
  const blocks: number[] = []
  const starts: number[] = []
  const pieces: Buffer[] = []
  let length = 0
  for (const run of [first, ...more]) {
    if (length > 0) pieces.push(comma)
    length += length > 0 ? 1 : 0
    for (const [at, block] of run.blocks.entries()) {
      blocks.push(block)
      starts.push(length + (run.starts[at] ?? 0))
    }
    pieces.push(run.bytes)
    length += run.bytes.length
  }
  return { bytes: Buffer.concat(pieces, length), blocks, starts }
}
/** The logs of some of the blocks. Shares the bytes. */
export function partOf(run: LogRun, from: number, to: number): LogRun {
  const { blocks, starts, bytes } = run
  const first = lowerBound(blocks, from)
  const end = lowerBound(blocks, to + 1)
  if (first === end) return noLogs
  if (first === 0 && end === blocks.length) return run
  const start = starts[first] ?? 0
  // The comma before the next block's first log is no part.
  const next = starts[end]
  return {
    bytes: bytes.subarray(start, next === undefined ? bytes.length : next - 1),
    blocks: blocks.slice(first, end),
    starts: starts.slice(first, end).map((each) => each - start),
  }
}

/** Index of the first block that is not below the number. */
function lowerBound(blocks: readonly number[], number: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
