// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { logValues, type LogFilter } from './logs.ts'

export interface Log {
  readonly fields: Readonly<Record<string, unknown>>
  /** As the node wrote it. */
  readonly event: Uint8Array
}

/** Indexes logs by value, so that each of many filters finds its matches directly. */
export class LogIndex {
  /** Whether all values have known forms. If not, only a node knows which logs match. */
  readonly isComplete: boolean
  readonly #logs: readonly Log[]
  /** Address and topics of each log, in that order. */
  readonly #values: (readonly string[])[]
  /** Logs by value, per position. */
  readonly #places = Array.from({ length: 5 }, () => new Map<string, number[]>())

  constructor(logs: readonly Log[]) {
    const values = logs.map(({ fields }) => logValues(fields))
    this.isComplete = values.every(({ length }) => length > 0 && length <= this.#places.length)
    this.#logs = logs
    this.#values = values
    for (const [at, own] of values.entries())
      for (const [place, value] of own.entries()) {
        const same = this.#places[place]?.get(value)
        if (same) same.push(at)
        else this.#places[place]?.set(value, [at])
      }
  }

  /** Matching logs in order. A trailing position requires a topic there, as in go-ethereum. */
  matching(filter: LogFilter): readonly Log[] {
    const wanted = [filter.addresses, ...filter.topics].map((each) => each?.values)
    const place = wanted.findIndex((values) => values !== undefined)
    const byValue = this.#places[place]
    const found = byValue && wanted[place]?.intersection(byValue)
    const candidates = found
      ? [...found].flatMap((value) => byValue?.get(value) ?? []).toSorted((a, b) => a - b)
      : this.#values.keys().toArray()
    return candidates
      .filter((at) => {
        const own = this.#values[at] as readonly string[]
        return (
          own.length >= wanted.length &&
          wanted.every((any, where) => any?.has(own[where] as string) ?? true)
        )
      })
      .map((at) => this.#logs[at] as Log)
  }
}
