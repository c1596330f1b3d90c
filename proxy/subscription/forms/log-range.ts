// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ObjectCursor } from '../../json/object-cursor.ts'
import { bufferOf, isNamed } from '../../json/text.ts'
import { toBlockNumber } from '../../upstream/block-number.ts'
import type { LogCriteria } from './log-filter.ts'

/** Whether a log lies in the range of a filter; null where the filter has none. */
export function takesOfRange({
  fromBlock = 0,
  toBlock = Infinity,
}: LogCriteria): ((log: Uint8Array) => boolean) | null {
  if (fromBlock === 0 && toBlock === Infinity) return null
  return (log) => {
    const number = blockNumberOf(log)
    return number === null || (fromBlock <= number && number <= toBlock)
  }
}

function blockNumberOf(log: Uint8Array): number | null {
  const cursor = new ObjectCursor(log, 0)
  while (cursor.next()) {
    const { nameStart, nameEnd, valueStart, valueEnd } = cursor
    if (isNamed(log, nameStart, nameEnd, '"blockNumber"'))
      return toBlockNumber(bufferOf(log).toString('latin1', valueStart + 1, valueEnd - 1), 'hex')
  }
  return null
}
