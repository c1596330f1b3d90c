// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Shape } from '../../chain/check-rule.ts'
import { sameBytes } from '../../json/text.ts'
import { blockRangeOf, mayPend, shownRange, type HeightAsked } from './block-range.ts'
import { FieldReader } from './field-reader.ts'
import { ItemCursor } from './item-cursor.ts'
import { LogFilter } from './log-filter.ts'
import type { ResultDocument } from './result-document.ts'
import { contradicts } from './second-name.ts'
import { fits, isUnusual } from './shape.ts'
import { hashAt, numberAt, shownAt, spellsHash } from './values.ts'
import { violation, type CheckName, type Violation } from './violation.ts'

/** In the order of the places below. */
const members: readonly (readonly [string, Shape])[] = [
  ['address', 'address'],
  ['topics', 'topics'],
  ['blockNumber', 'height'],
  ['blockHash', 'hash'],
  ['logIndex', 'height'],
  ['transactionIndex', 'height'],
  ['transactionHash', 'hash'],
  ['removed', 'boolean?'],
  ['data', 'data'],
  ['index', 'height?'],
  ['blockTimestamp', 'quantity?'],
]
/** The names of what is looked at in a log. */
export const logMembers: readonly string[] = members.map(([name]) => name)
const [address, topics, number, hash, index] = [0, 1, 2, 3, 4]
const [transactionIndex, transaction, removed, data] = [5, 6, 7, 8]
/** Which some clients read before `logIndex`. */
const secondIndex = 9

/**
 * Every log is of a block in the range, of an address and with topics that the filter names, and
 * the logs are in the order of the chain. Whether logs are missing cannot be told from the answer.
 * Logs of pending blocks have neither height nor hash; others have. One pass over the bytes.
 */
export function checkLogs(
  document: ResultDocument,
  wanted: unknown,
  { block: asked, horizon }: HeightAsked,
): Violation | null {
  const { bytes, span } = document
  if (bytes[span.start] !== 0x5b) return violation('shape', 'the answer is no list of logs')
  const filter = new LogFilter(wanted)
  const range = blockRangeOf(asked)
  const isPending = mayPend(asked)
  const fields = new FieldReader(logMembers)
  const told = (place: number) =>
    fields.start(place) < 0 ? 'nothing' : shownAt(bytes, fields.start(place), fields.end(place))
  let lastNumber = -1
  let lastIndex = -1
  let lastHashStart = -1
  let lastHashEnd = -1
  const sender = new LastTransaction(bytes, fields)
  const senders = new Transactions(bytes, fields)
  const highest = horizon() ?? Infinity
  let doubt: Violation | null = null
  const doubts = (check: CheckName, evidence: string) => {
    doubt ??= { check, evidence, certain: false }
  }

  const cursor = new ItemCursor(bytes, span.start, document.skippedAt([]))
  while (cursor.next()) {
    const which = cursor.index
    if (!cursor.isObject) return violation('shape', `item ${which} is no log`)
    cursor.ended(fields.read(bytes, cursor.start))
    if (fields.twin !== null)
      return violation('shape', `log ${which} has ${fields.twin} in two spellings`)

    if (!filter.takesAddress(bytes, fields.start(address), fields.end(address)))
      return violation('logs-address', `log ${which} is of ${told(address)}`)
    if (!filter.takesTopics(bytes, fields.start(topics)))
      return violation('logs-topics', `log ${which} has ${told(topics)}`)

    const hasHash = fields.holds(bytes, hash)
    const hashStart = fields.start(hash)
    const hashEnd = fields.end(hash)
    const isOfHash = (bare: string) => hasHash && spellsHash(bytes, hashStart, hashEnd, bare)
    if (range.hash !== null && !isOfHash(range.hash))
      return violation(
        'logs-block',
        `asked for ${shownRange(range)}, log ${which} is of ${told(hash)}`,
      )
    if (fields.start(removed) >= 0 && bytes[fields.start(removed)] === 0x74)
      return violation('logs-block', `log ${which} is of a block that was taken back`)
    const hasNumber = fields.holds(bytes, number)
    if (!hasNumber && !isPending) return violation('logs-range', `log ${which} is of no block`)
    for (let place = 0; place < members.length; place++) {
      const [name, shape] = members[place] as (typeof members)[number]
      if (place === number || fits(shape, isPending, bytes, fields.start(place), fields.end(place)))
        continue
      return violation('shape', `${name} of log ${which} is ${told(place)}, not of type ${shape}`)
    }
    if (contradicts(bytes, fields.span(index), fields.span(secondIndex)))
      return violation('shape', `index of log ${which} is ${told(secondIndex)}, unlike logIndex`)
    if (isUnusual('data', bytes, fields.start(data), fields.end(data)))
      doubts('shape', `an unusual data of log ${which}, ${told(data)}`)
    if (!hasNumber) continue

    const height = numberAt(bytes, fields.start(number), fields.end(number))
    if (!(height >= range.from && height <= range.to))
      return violation(
        'logs-range',
        `asked for ${shownRange(range)}, log ${which} is of ${told(number)}`,
      )
    if (height > highest) doubts('logs-range', `log ${which} is of ${told(number)}`)
    const hasIndex = fields.holds(bytes, index)
    const place = hasIndex ? numberAt(bytes, fields.start(index), fields.end(index)) : lastIndex + 1
    const isToldHash = hasHash && lastHashStart >= 0
    const isSameHash =
      isToldHash &&
      (sameBytes(bytes, hashStart, hashEnd, bytes, lastHashStart, lastHashEnd) ||
        spellsHash(bytes, hashStart, hashEnd, hashAt(bytes, lastHashStart, lastHashEnd) ?? ''))
    if (height === lastNumber) {
      if (!(place > lastIndex))
        return violation('logs-order', `log ${which} has index ${place}, after ${lastIndex}`)
      if (isToldHash && !isSameHash)
        return violation(
          'logs-block',
          `log ${which} gives block ${height} another hash, ${told(hash)}`,
        )
      if (!sender.takes())
        return violation(
          'logs-transaction',
          `log ${which} is of transaction ${told(transactionIndex)}, ${told(transaction)}`,
        )
    } else if (!(height > lastNumber))
      return violation('logs-order', `log ${which} is of ${height}, after ${lastNumber}`)
    else if (isSameHash)
      return violation('logs-block', `log ${which} gives ${told(hash)} another height, ${height}`)
    else sender.begin()
    if (senders.isOfOtherBlock(height))
      doubts(
        'logs-transaction',
        `log ${which} has a transaction of another block, ${told(transaction)}`,
      )
    lastNumber = height
    lastIndex = place
    lastHashStart = hasHash ? hashStart : -1
    lastHashEnd = hasHash ? hashEnd : -1
  }
  return doubt
}

/** The transaction of the last log: those of a block come in turn, and each has one hash. */
class LastTransaction {
  readonly #bytes: Uint8Array
  readonly #fields: FieldReader
  #index = NaN
  #start = -1
  #end = -1

  constructor(bytes: Uint8Array, fields: FieldReader) {
    this.#bytes = bytes
    this.#fields = fields
  }

  /** The first log of a block. */
  begin(): void {
    const { start, end } = this.#span(transactionIndex)
    this.#index = start < 0 ? NaN : numberAt(this.#bytes, start, end)
    const hash = this.#span(transaction)
    this.#start = hash.start
    this.#end = hash.end
  }

  /** A further one of the same block. What a log does not tell is no contradiction. */
  takes(): boolean {
    const [before, start, end] = [this.#index, this.#start, this.#end]
    this.begin()
    if (Number.isNaN(before) || Number.isNaN(this.#index)) return true
    if (this.#index < before) return false
    if (start < 0 || this.#start < 0) return true
    const bytes = this.#bytes
    const isSame =
      sameBytes(bytes, start, end, bytes, this.#start, this.#end) ||
      spellsHash(bytes, this.#start, this.#end, hashAt(bytes, start, end) ?? '')
    return isSame === (this.#index === before)
  }

  #span(place: number) {
    const isTold = this.#fields.holds(this.#bytes, place)
    return isTold
      ? { start: this.#fields.start(place), end: this.#fields.end(place) }
      : { start: -1, end: -1 }
  }
}

/** Which block each transaction was in: it can be in one only. */
class Transactions {
  readonly #bytes: Uint8Array
  readonly #fields: FieldReader
  readonly #heights = new Map<string, number>()
  #height = -1
  #start = -1
  #end = -1

  constructor(bytes: Uint8Array, fields: FieldReader) {
    this.#bytes = bytes
    this.#fields = fields
  }

  /** What is nobody's doing may have zeros everywhere. */
  isOfOtherBlock(height: number): boolean {
    const [bytes, fields] = [this.#bytes, this.#fields]
    if (!fields.holds(bytes, transaction)) return false
    const [start, end] = [fields.start(transaction), fields.end(transaction)]
    // Most are of the same as the one before.
    if (height === this.#height && sameBytes(bytes, start, end, bytes, this.#start, this.#end))
      return false
    this.#height = height
    this.#start = start
    this.#end = end
    const hash = hashAt(bytes, start, end)
    if (hash === null || /^0*$/.test(hash)) return false
    const known = this.#heights.get(hash)
    this.#heights.set(hash, height)
    return known !== undefined && known !== height
  }
}
