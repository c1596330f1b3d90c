// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { CallAborted } from '../relay/errors.ts'
import { unlessAborted } from './unless-aborted.ts'

interface Going<T> {
  readonly promise: Promise<T>
  readonly gone: AbortController
  wanted: number
}

/** Lets all who want the same at the same time wait for one piece of work, and ends it when nobody does any more. */
export class Shared<T> {
  readonly #going = new Map<string, Going<T>>()

  /** @throws CallAborted when it is called off, and what the work throws */
  async take(
    key: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw new CallAborted()
    const going = this.#going.get(key) ?? this.#begin(key, work)
    going.wanted += 1
    try {
      return await unlessAborted(going.promise, signal)
    } finally {
      going.wanted -= 1
      if (going.wanted === 0 && this.#forget(key, going)) going.gone.abort()
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Going<T> {
    const gone = new AbortController()
    const going: Going<T> = { promise: work(gone.signal), gone, wanted: 0 }
    this.#going.set(key, going)
    const over = () => {
      this.#forget(key, going)
    }
    going.promise.then(over, over)
    return going
  }

  /** @returns false when it has ended already */
  #forget(key: string, going: Going<T>): boolean {
    return this.#going.get(key) === going && this.#going.delete(key)
  }
}
