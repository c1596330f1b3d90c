// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, Cursor, memberOf, membersOf, parseSpan } from '../json/scanner.ts'
import { toNumber } from '../json/values.ts'

/** A range of blocks, both ends included. */
export interface Range {
  readonly from: number
  readonly to: number
}

export function sizeOf({ from, to }: Range): number {
  return to - from + 1
}

/** One log as the node wrote it. */
export interface Log {
  readonly block: number
  /** -1 if the node shows none. */
  readonly index: number
  /** JSON with one character per byte, which takes less memory than a buffer. */
  readonly text: string
}

/** Logs in order of block and index. */
export type LogList = readonly Log[]

/**
 * Reads the logs of an answer. Sorts them if the node did not. Drops duplicates, and logs outside
 * the range.
 * @returns null for anything but a list of logs with block numbers
 */
export function readLogs(body: Uint8Array, from: number, to: number): LogList | null {
  const at = memberOf(body, 'result')
  const json = bufferOf(body)
  if (at && json.toString('latin1', at.start, at.end) === 'null') return []
  if (!at || json[at.start] !== 0x5b) return null
  const logs: Log[] = []
  const cursor = new Cursor(json, at.start)
  let isSorted = true
  while (cursor.next()) {
    const log = logAt(json, cursor.valueStart, cursor.valueEnd)
    if (log === null) return null
    if (log.block < from || log.block > to) continue
    const last = logs.at(-1)
    isSorted &&= !last || byPosition(last, log) < 0
    logs.push(log)
  }
  if (isSorted) return logs
  return logs.toSorted(byPosition).filter((log, i, all) => {
    const before = all[i - 1]
    return log.index < 0 || !before || byPosition(before, log) !== 0
  })
}

function logAt(json: Buffer, start: number, end: number): Log | null {
  if (json[start] !== 0x7b) return null
  const { at } = membersOf(json, start, ['blockNumber', 'logIndex'])
  const [block, index] = [0, 1].map((each) => {
    const span = at[each]
    return span ? toNumber(parseSpan(json, span.start, span.end)) : null
  })
  if (block === null || block === undefined) return null
  return { block, index: index ?? -1, text: json.toString('latin1', start, end) }
}

/** Orders logs by block and index. */
export function byPosition(one: Log, other: Log): number {
  return one.block - other.block || one.index - other.index
}

export function lengthOf(logs: LogList): number {
  return logs.reduce((sum, { text }) => sum + text.length + 1, 0)
}

/** JSON of the logs, joined by commas. Written in place: a joined text would be one more copy. */
export function bytesOf(logs: LogList): Buffer {
  const bytes = Buffer.allocUnsafeSlow(lengthOf(logs))
  let at = 0
  for (const { text } of logs) {
    at += bytes.write(text, at, 'latin1')
    at = bytes.writeUInt8(0x2c, at)
  }
  return bytes.subarray(0, Math.max(0, at - 1))
}
