// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { waitUntil } from '../../processes/eventually.ts'

const timeoutMs = 60_000

/** Events of a client, in order. */
export class Gathered<T> {
  readonly all: T[] = []

  readonly add = (one: T): void => {
    this.all.push(one)
  }

  /** Resolves with the first `count` events when all have arrived. */
  async first(count: number): Promise<T[]> {
    await waitUntil(`${count} events`, timeoutMs, undefined, () => this.all.length >= count)
    return this.all.slice(0, count)
  }
}
