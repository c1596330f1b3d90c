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
}

/**
 * In the node's order: how a chain numbers its logs is its own (Hedera and Sei, anew in each transaction).
 * @returns null for what is no list of logs of this block
 */
function logsOf(result: Uint8Array, { id, number }: Position): readonly Uint8Array[] | null {
  if (result[0] !== 0x5b) return null
  const events: Uint8Array[] = []
  const cursor = new Cursor(result, 0)
  while (cursor.next()) {
    // A copy: the answer may be far longer than what is kept of it.
    const event = Buffer.from(bufferOf(result).subarray(cursor.valueStart, cursor.valueEnd))
    const { blockHash, blockNumber } = (parseJson(event) ?? {}) as Partial<Log>
    const isOfBlock = String(blockHash).toLowerCase() === id && Number(blockNumber) === number
    if (!isOfBlock) return null
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
