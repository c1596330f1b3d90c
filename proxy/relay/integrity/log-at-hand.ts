// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Shape } from '../../chain/check-rule.ts'
import type { Span } from '../../json/span.ts'
import { FieldReader } from './field-reader.ts'
import { numberAt, shownAt } from './values.ts'

/** In the order of the places below. */
const members: readonly (readonly [name: string, Shape])[] = [
  ['address', 'address'],
  ['topics', 'topics'],
  ['blockNumber', 'height'],
  ['blockHash', 'hash'],
  ['logIndex', 'height'],
  ['transactionIndex', 'height'],
  ['transactionHash', 'hash'],
  ['removed', 'boolean?'],
  ['data', 'data'],
  // Which some clients read before `logIndex`.
  ['index', 'height?'],
  ['blockTimestamp', 'quantity?'],
]

/** Where each member stands in the list. */
export const place = {
  ...{ address: 0, topics: 1, blockNumber: 2, blockHash: 3, logIndex: 4, transactionIndex: 5 },
  ...{ transactionHash: 6, removed: 7, data: 8, index: 9 },
} as const

/** The names of what is looked at in a log. */
export const logMembers: readonly string[] = members.map(([name]) => name)
/** What their values look like, by place. */
export const logShapes: readonly Shape[] = members.map(([, shape]) => shape)

/** One log of a list, read in one pass and forgotten when the next is read. Members go by their places. */
export class LogAtHand {
  readonly bytes: Uint8Array
  readonly #fields = new FieldReader(logMembers)

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /**
   * @param at the offset of its brace
   * @returns the offset behind it
   */
  read(at: number): number {
    return this.#fields.read(this.bytes, at)
  }

  /** A member that stands there in two spellings; null for none. */
  get twin(): string | null {
    return this.#fields.twin
  }

  /** It is there and not null. */
  holds(at: number): boolean {
    return this.#fields.holds(this.bytes, at)
  }

  /** -1 for a member that it has not got. */
  start(at: number): number {
    return this.#fields.start(at)
  }

  end(at: number): number {
    return this.#fields.end(at)
  }

  /** Null for a member that it has not got. */
  span(at: number): Span | null {
    return this.#fields.span(at)
  }

  /** NaN for what is no number. */
  number(at: number): number {
    return numberAt(this.bytes, this.start(at), this.end(at))
  }

  /** A value for a log line, short. */
  told(at: number): string {
    return this.start(at) < 0 ? 'nothing' : shownAt(this.bytes, this.start(at), this.end(at))
  }
}
