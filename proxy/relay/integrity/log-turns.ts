// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { LogIndexScope } from '../../chain/check-rule.ts'
import { sameBytes } from '../../json/text.ts'
import { place, type LogAtHand } from './log-at-hand.ts'
import { hashAt, spellsHash } from './values.ts'
import { violation, type Violation } from './violation.ts'

/**
 * The logs in the order of the chain: each stands behind the one before it, and two of one block, or
 * of one transaction, say the same of it. What a log does not tell is no contradiction.
 */
export class LogTurns {
  readonly #log: LogAtHand
  readonly #indexIn: LogIndexScope
  readonly #lastBlockHash: LastHash
  readonly #lastTransaction: LastTransaction
  #lastHeight = -1
  #lastIndex = -1

  /** @param indexIn what the logs are numbered in: with `transaction`, those of a later one may begin anew */
  constructor(log: LogAtHand, indexIn: LogIndexScope) {
    this.#log = log
    this.#indexIn = indexIn
    this.#lastBlockHash = new LastHash(log, place.blockHash)
    this.#lastTransaction = new LastTransaction(log)
  }

  /** What the next log says against the one before it, which it then takes the place of. */
  next(which: number, height: number): Violation | null {
    const log = this.#log
    const index = log.holds(place.logIndex) ? log.number(place.logIndex) : this.#lastIndex + 1
    const found =
      height === this.#lastHeight
        ? this.#inSameBlock(which, height, index)
        : this.#inNextBlock(which, height)
    this.#lastHeight = height
    this.#lastIndex = index
    this.#lastBlockHash.keep()
    this.#lastTransaction.keep()
    return found
  }

  #inSameBlock(which: number, height: number, index: number): Violation | null {
    const told = (at: number) => this.#log.told(at)
    if (!(index > this.#lastIndex) && !this.#beginsAnew)
      return violation('logs-order', `log ${which} has index ${index}, after ${this.#lastIndex}`)
    if (this.#lastBlockHash.compared === 'other')
      return violation(
        'logs-block',
        `log ${which} gives block ${height} another hash, ${told(place.blockHash)}`,
      )
    if (!this.#lastTransaction.agrees)
      return violation(
        'logs-transaction',
        `log ${which} is of transaction ${told(place.transactionIndex)}, ${told(place.transactionHash)}`,
      )
    return null
  }

  get #beginsAnew(): boolean {
    return this.#indexIn === 'transaction' && this.#lastTransaction.isOver
  }

  #inNextBlock(which: number, height: number): Violation | null {
    if (!(height > this.#lastHeight))
      return violation('logs-order', `log ${which} is of ${height}, after ${this.#lastHeight}`)
    if (this.#lastBlockHash.compared === 'same') {
      const hash = this.#log.told(place.blockHash)
      return violation('logs-block', `log ${which} gives ${hash} another height, ${height}`)
    }
    return null
  }
}

/** A hash of the log before, by where it stands. */
class LastHash {
  readonly #log: LogAtHand
  readonly #place: number
  #start = -1
  #end = -1

  constructor(log: LogAtHand, at: number) {
    this.#log = log
    this.#place = at
  }

  /** How that of the log at hand compares with it. */
  get compared(): 'same' | 'other' | 'untold' {
    const log = this.#log
    if (this.#start < 0 || !log.holds(this.#place)) return 'untold'
    const { bytes } = log
    const [start, end] = [log.start(this.#place), log.end(this.#place)]
    const isSame =
      sameBytes(bytes, start, end, bytes, this.#start, this.#end) ||
      spellsHash(bytes, start, end, hashAt(bytes, this.#start, this.#end) ?? '')
    return isSame ? 'same' : 'other'
  }

  keep(): void {
    const isTold = this.#log.holds(this.#place)
    this.#start = isTold ? this.#log.start(this.#place) : -1
    this.#end = isTold ? this.#log.end(this.#place) : -1
  }
}

/** The transaction of the log before: those of a block come in turn, and each has one hash. */
class LastTransaction {
  readonly #log: LogAtHand
  readonly #hash: LastHash
  #index = NaN

  constructor(log: LogAtHand) {
    this.#log = log
    this.#hash = new LastHash(log, place.transactionHash)
  }

  /** The log at hand, of the same block, may stand behind it. */
  get agrees(): boolean {
    const index = this.#indexHere
    if (Number.isNaN(this.#index) || Number.isNaN(index)) return true
    if (index < this.#index) return false
    const { compared } = this.#hash
    return compared === 'untold' || (compared === 'same') === (index === this.#index)
  }

  /** The log at hand, of the same block, is of a later one, as far as it tells. */
  get isOver(): boolean {
    const index = this.#indexHere
    if (Number.isNaN(this.#index) || Number.isNaN(index)) return this.#hash.compared !== 'same'
    return index > this.#index
  }

  keep(): void {
    this.#index = this.#indexHere
    this.#hash.keep()
  }

  get #indexHere(): number {
    return this.#log.holds(place.transactionIndex) ? this.#log.number(place.transactionIndex) : NaN
  }
}

/** Which block each transaction was in: it can be in one only. */
export class TransactionHeights {
  readonly #log: LogAtHand
  readonly #heights = new Map<string, number>()
  #height = -1
  #start = -1
  #end = -1

  constructor(log: LogAtHand) {
    this.#log = log
  }

  /** Another log has told another height for the transaction of the one at hand. */
  isOfOtherBlock(height: number): boolean {
    const log = this.#log
    const { bytes } = log
    if (!log.holds(place.transactionHash)) return false
    const [start, end] = [log.start(place.transactionHash), log.end(place.transactionHash)]
    // Most are of the same as the one before.
    if (height === this.#height && sameBytes(bytes, start, end, bytes, this.#start, this.#end))
      return false
    this.#height = height
    this.#start = start
    this.#end = end
    const hash = hashAt(bytes, start, end)
    // What is nobody's doing may have zeros everywhere.
    if (hash === null || /^0*$/.test(hash)) return false
    const known = this.#heights.get(hash)
    this.#heights.set(hash, height)
    return known !== undefined && known !== height
  }
}
