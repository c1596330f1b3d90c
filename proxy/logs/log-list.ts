// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf, Cursor, memberOf, parseSpan, spells } from '../json/scanner.ts'
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
  /** The answer that contains it. A string of its own would be one more copy. */
  readonly json: Buffer
  readonly start: number
  readonly end: number
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

/** Longest answer of `null`, with its envelope. */
const maxNullBytes = 256

/** Whether the answer is null instead of a list. */
export function isNull(body: Uint8Array): boolean {
  const at = body.length > maxNullBytes ? null : memberOf(body, 'result')
  return at !== null && spells(bufferOf(body), at.start, at.end, 'null')
}

function logAt(json: Buffer, start: number, end: number): Log | null {
  if (json[start] !== 0x7b) return null
  const fields = new Cursor(json, start)
  let block: number | null = null
  let index: number | null = null
  while ((block === null || index === null) && fields.next())
    if (fields.isNamed('blockNumber')) block ??= numberAt(json, fields)
    else if (fields.isNamed('logIndex')) index ??= numberAt(json, fields)
  return block === null ? null : { block, index: index ?? -1, json, start, end }
}

function numberAt(json: Buffer, { valueStart, valueEnd }: Cursor): number | null {
  return toNumber(parseSpan(json, valueStart, valueEnd))
}

/** Orders logs by block and index. */
export function byPosition(one: Log, other: Log): number {
  return one.block - other.block || one.index - other.index
}

/** Length of the logs with a comma after each. */
export function lengthOf(logs: LogList): number {
  return logs.reduce((sum, { start, end }) => sum + end - start + 1, 0)
}

/** JSON of the logs, joined by commas. No copy if they already are. */
export function bytesOf(logs: LogList): Buffer {
  const [first] = logs
  const isJoined = logs.every(({ json, start }, at) => {
    const before = logs[at - 1]
    return !before || (before.json === json && before.end + 1 === start)
  })
  if (!first || !isJoined) return copied(logs).bytes
  return first.json.subarray(first.start, logs.at(-1)?.end)
}

/** The same logs in a buffer of their own, so that the rest of an answer can be freed. */
export function copied(logs: LogList): { readonly bytes: Buffer; readonly logs: LogList } {
  const json = Buffer.allocUnsafeSlow(lengthOf(logs))
  let at = 0
  const own = logs.map((log) => {
    const start = at
    const end = start + log.json.copy(json, start, log.start, log.end)
    at = json.writeUInt8(0x2c, end)
    return { ...log, json, start, end }
  })
  return { bytes: json.subarray(0, Math.max(0, at - 1)), logs: own }
}
