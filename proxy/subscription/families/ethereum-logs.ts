// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Cursor } from '../../json/cursor.ts'
import { bufferOf, parseJson } from '../../json/text.ts'
import { askFor, type Ask } from '../ask.ts'
import type { FetchLogs } from '../family.ts'
import type { Position } from '../history.ts'

/** By the block's hash: a node that does not have the block says so instead of "none". */
export function fetchLogsBy(ask: Ask): FetchLogs {
  return async (position, filter, prefer, signal) => {
    const params = [{ blockHash: position.id, ...filter }]
    const question = { method: 'eth_getLogs', params, prefer, signal }
    return (await askFor(ask, question, (result) => logsOf(result, position))).value
  }
}

interface Log {
  readonly blockHash: string
  readonly blockNumber: string
  readonly logIndex: string
}

/**
 * Clients tell logs apart by block and `logIndex`, and take them back by it. Logs of one index would
 * look like repeats to them.
 * @returns null for what is no list of logs of this block in their order
 */
function logsOf(result: Uint8Array, { id, number }: Position): readonly Uint8Array[] | null {
  if (result[0] !== 0x5b) return null
  const events: Uint8Array[] = []
  const cursor = new Cursor(result, 0)
  let last = -1
  while (cursor.next()) {
    // A copy: the answer may be far longer than what is kept of it.
    const event = Buffer.from(bufferOf(result).subarray(cursor.valueStart, cursor.valueEnd))
    const { blockHash, blockNumber, logIndex } = (parseJson(event) ?? {}) as Partial<Log>
    const isOfBlock = String(blockHash).toLowerCase() === id && Number(blockNumber) === number
    const index = Number(logIndex ?? NaN)
    if (!isOfBlock || !(index > last)) return null
    last = index
    events.push(event)
  }
  return cursor.end < 0 ? null : events
}

/** The log with `removed` true, where the member stands or as its last one. */
export function markRemoved(log: Uint8Array): Uint8Array {
  const bytes = bufferOf(log)
  const cursor = new Cursor(log, 0)
  let hasMembers = false
  while (cursor.next()) {
    hasMembers = true
    if (!cursor.isNamed('removed')) continue
    const { valueStart, valueEnd } = cursor
    const isTrue = Buffer.from('true')
    return Buffer.concat([bytes.subarray(0, valueStart), isTrue, bytes.subarray(valueEnd)])
  }
  const inside = bytes.subarray(0, cursor.end - 1)
  return Buffer.concat([inside, Buffer.from(hasMembers ? ',"removed":true}' : '"removed":true}')])
}
