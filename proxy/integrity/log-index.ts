// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { logValues, type LogFilter } from './logs.ts'

export interface Log {
  readonly fields: Readonly<Record<string, unknown>>
  /** As the node wrote it. */
  readonly event: Uint8Array
}

/** A log has at most four topics, behind its address. */
const maxValues = 5

/** The logs of a block, normalized once for any number of filters. */
export class LogIndex {
  /** Whether all values have known forms. If not, only a node knows which logs match. */
  readonly isComplete: boolean
  readonly #logs: readonly { readonly log: Log; readonly values: readonly string[] }[]

  constructor(logs: readonly Log[]) {
    this.#logs = logs.map((log) => ({ log, values: logValues(log.fields) }))
    this.isComplete = this.#logs.every(
      ({ values }) => values.length > 0 && values.length <= maxValues,
    )
  }

  /** Matching logs in order. A trailing position requires a topic there, as in go-ethereum. */
  matching({ addresses, topics }: LogFilter): readonly Log[] {
    const wanted = [addresses, ...topics].map((each) => each?.values)
    return this.#logs
      .filter(
        ({ values }) =>
          values.length >= wanted.length &&
          wanted.every((any, at) => any?.has(values[at] as string) ?? true),
      )
      .map(({ log }) => log)
  }
}
