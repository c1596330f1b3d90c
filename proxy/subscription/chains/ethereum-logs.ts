// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ArrayCursor } from '../../json/array-cursor.ts'
import { ObjectCursor } from '../../json/object-cursor.ts'
import { bufferOf, isNamed } from '../../json/text.ts'
import type { Ask } from '../ask.ts'
import type { DerivedEvents, Item } from '../derived.ts'
import type { Place } from '../link.ts'
import { askFor } from './own-value.ts'
import { listOf, objectOf, type Shape } from './shape.ts'

/** Logs that fit a filter, by block. What was told is taken back when its block is replaced. */
export class EthereumLogs implements DerivedEvents {
  readonly #ask: Ask
  readonly #filter: object

  constructor(ask: Ask, filter: unknown) {
    this.#ask = ask
    this.#filter = filter ?? {}
  }

  /** By the block's hash: a node that does not have the block says so instead of "none". */
  async of(place: Place, prefer: string | null, signal: AbortSignal): Promise<readonly Item[]> {
    const params = [{ blockHash: place.id, ...this.#filter }]
    const question = { method: 'eth_getLogs', params, prefer, signal }
    return (await askFor(this.#ask, question, (result) => itemsOf(result, place))).value
  }

  takeBack({ event }: Item): Uint8Array {
    return markRemoved(event)
  }
}

/** @returns null for what is no list of logs of this block in their order */
function itemsOf(result: Uint8Array, { id, number }: Place): readonly Item[] | null {
  if (result[0] !== 0x5b) return null
  const items: Item[] = []
  const cursor = new ArrayCursor(result, 0)
  let last = -1
  while (cursor.next()) {
    // A copy: the answer may be far longer than what is kept of it.
    const event = Buffer.from(bufferOf(result).subarray(cursor.valueStart, cursor.valueEnd))
    const log = JSON.parse(event.toString()) as unknown
    if (!isLog(log) || log.blockHash.toLowerCase() !== id || Number(log.blockNumber) !== number)
      return null
    const index = Number(log.logIndex)
    if (index <= last) return null
    last = index
    items.push({ key: `${items.length}`, event })
  }
  return cursor.end < 0 ? null : items
}

interface Log {
  readonly blockHash: string
  readonly blockNumber: string
  readonly logIndex: string
}

const isHex: Shape = (value) =>
  typeof value === 'string' && value.startsWith('0x') && !/[^\da-f]/i.test(value.slice(2))
const isQuantity: Shape = (value) => typeof value === 'string' && /^0x[\da-f]{1,13}$/i.test(value)

const wholeLog = objectOf(
  { address: isHex, blockHash: isHex, blockNumber: isQuantity, logIndex: isQuantity },
  {
    topics: listOf(isHex),
    data: isHex,
    transactionHash: isHex,
    transactionIndex: isQuantity,
    // Of a block that is asked for no log was taken back.
    removed: (value) => value === false,
  },
)

function isLog(value: unknown): value is Log {
  return wholeLog(value)
}

/** The log with `removed` true, in the place where it stands or as its last member. */
export function markRemoved(log: Uint8Array): Uint8Array {
  const bytes = bufferOf(log)
  const cursor = new ObjectCursor(log, 0)
  let hasMembers = false
  while (cursor.next()) {
    hasMembers = true
    if (!isNamed(log, cursor.nameStart, cursor.nameEnd, '"removed"')) continue
    const { valueStart, valueEnd } = cursor
    return Buffer.concat([bytes.subarray(0, valueStart), isTrue, bytes.subarray(valueEnd)])
  }
  const inside = bytes.subarray(0, cursor.end - 1)
  return Buffer.concat([inside, Buffer.from(hasMembers ? ',"removed":true}' : '"removed":true}')])
}

const isTrue = Buffer.from('true')
