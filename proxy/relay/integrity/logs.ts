// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CheckRule, Shape } from '../../chain/check-rule.ts'
import {
  blockRangeOf,
  mayPend,
  shownRange,
  type BlockRange,
  type HeightAsked,
} from './block-range.ts'
import { ItemCursor } from './item-cursor.ts'
import { LogAtHand, logMembers, logShapes, place } from './log-at-hand.ts'
import { LogFilter } from './log-filter.ts'
import { LogTurns, TransactionHeights } from './log-turns.ts'
import type { ResultDocument } from './result-document.ts'
import { contradicts } from './second-name.ts'
import { fits, isUnusual } from './shape.ts'
import { spellsHash } from './values.ts'
import { doubtful, violation, type CheckName, type Violation } from './violation.ts'

type LogsRule = Extract<CheckRule, { check: 'logs' }>

/**
 * Every log is of a block in the range, of an address and with topics that the filter names, and
 * the logs are in the order of the chain. Whether logs are missing cannot be told from the answer.
 * Logs of pending blocks have neither height nor hash; others have. One pass over the bytes.
 */
export function checkLogs(
  rule: LogsRule,
  document: ResultDocument,
  wanted: unknown,
  asked: HeightAsked,
): Violation | null {
  const { bytes, span } = document
  if (bytes[span.start] !== 0x5b) return violation('shape', 'the answer is no list of logs')
  const log = new LogAtHand(bytes)
  const check = new LogsCheck(rule, log, wanted, asked)
  const cursor = new ItemCursor(bytes, span.start, document.skippedAt([]))
  while (cursor.next()) {
    if (!cursor.isObject) return violation('shape', `item ${cursor.index} is no log`)
    cursor.ended(log.read(cursor.start))
    const found = check.next(cursor.index)
    if (found) return found
  }
  return check.doubt
}

/** One log after the other. */
class LogsCheck {
  readonly #log: LogAtHand
  readonly #filter: LogFilter
  readonly #range: BlockRange
  readonly #isPending: boolean
  /** The upstream has no block above it. */
  readonly #highest: number
  readonly #turns: LogTurns
  readonly #heights: TransactionHeights
  #doubt: Violation | null = null

  constructor(
    { indexIn }: LogsRule,
    log: LogAtHand,
    wanted: unknown,
    { block, horizon }: HeightAsked,
  ) {
    this.#log = log
    this.#filter = new LogFilter(wanted)
    this.#range = blockRangeOf(block)
    this.#isPending = mayPend(block)
    this.#highest = horizon() ?? Infinity
    this.#turns = new LogTurns(log, indexIn)
    this.#heights = new TransactionHeights(log)
  }

  /** The first thing that may be wrong; what is wrong for certain `next` has told. */
  get doubt(): Violation | null {
    return this.#doubt
  }

  /** What is wrong with the log at hand for certain. */
  next(which: number): Violation | null {
    const log = this.#log
    const found = this.#unwanted(which) ?? this.#misshapen(which)
    if (found || !log.holds(place.blockNumber)) return found
    const height = log.number(place.blockNumber)
    return this.#outOfRange(which, height) ?? this.#outOfTurn(which, height)
  }

  #doubts(check: CheckName, evidence: string): void {
    this.#doubt ??= doubtful(check, evidence)
  }

  #unwanted(which: number): Violation | null {
    const log = this.#log
    const { bytes } = log
    const filter = this.#filter
    if (log.twin !== null)
      return violation('shape', `log ${which} has ${log.twin} in two spellings`)
    if (!filter.takesAddress(bytes, log.start(place.address), log.end(place.address)))
      return violation('logs-address', `log ${which} is of ${log.told(place.address)}`)
    if (!filter.takesTopics(bytes, log.start(place.topics)))
      return violation('logs-topics', `log ${which} has ${log.told(place.topics)}`)
    if (!this.#isOfBlock()) return this.#ofAnotherBlock(which, 'logs-block', place.blockHash)
    const removed = log.start(place.removed)
    if (removed >= 0 && bytes[removed] === 0x74)
      return violation('logs-block', `log ${which} is of a block that was taken back`)
    if (!log.holds(place.blockNumber) && !this.#isPending)
      return violation('logs-range', `log ${which} is of no block`)
    return null
  }

  #isOfBlock(): boolean {
    const { hash } = this.#range
    if (hash === null) return true
    const log = this.#log
    const [start, end] = [log.start(place.blockHash), log.end(place.blockHash)]
    return log.holds(place.blockHash) && spellsHash(log.bytes, start, end, hash)
  }

  #ofAnotherBlock(which: number, check: CheckName, told: number): Violation {
    const range = shownRange(this.#range)
    return violation(check, `asked for ${range}, log ${which} is of ${this.#log.told(told)}`)
  }

  #misshapen(which: number): Violation | null {
    const log = this.#log
    const { bytes } = log
    for (let at = 0; at < logShapes.length; at++) {
      const shape = logShapes[at] as Shape
      if (at === place.blockNumber) continue
      if (fits(shape, this.#isPending, bytes, log.start(at), log.end(at))) continue
      const what = `${logMembers[at]} of log ${which} is ${log.told(at)}`
      return violation('shape', `${what}, not of type ${shape}`)
    }
    if (contradicts(bytes, log.span(place.logIndex), log.span(place.index))) {
      const told = log.told(place.index)
      return violation('shape', `index of log ${which} is ${told}, unlike logIndex`)
    }
    if (isUnusual('data', bytes, log.start(place.data), log.end(place.data)))
      this.#doubts('shape', `an unusual data of log ${which}, ${log.told(place.data)}`)
    return null
  }

  #outOfRange(which: number, height: number): Violation | null {
    const { from, to } = this.#range
    if (!(height >= from && height <= to))
      return this.#ofAnotherBlock(which, 'logs-range', place.blockNumber)
    if (height > this.#highest)
      this.#doubts('logs-range', `log ${which} is of ${this.#log.told(place.blockNumber)}`)
    return null
  }

  #outOfTurn(which: number, height: number): Violation | null {
    const found = this.#turns.next(which, height)
    if (found) return found
    if (this.#heights.isOfOtherBlock(height)) {
      const told = this.#log.told(place.transactionHash)
      this.#doubts('logs-transaction', `log ${which} has a transaction of another block, ${told}`)
    }
    return null
  }
}
