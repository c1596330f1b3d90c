// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { CallAborted } from '../relay/errors.ts'

/** Lets so many at once; the others wait, in the order in which they came. */
export class Turns {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** @throws CallAborted when it is called off while it waits */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(signal)
    try {
      return await work()
    } finally {
      this.#free += 1
      this.#goOn()
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#waiting.delete(resolve)
      reject(new CallAborted())
    }
    if (signal.aborted) leave()
    else this.#waiting.add(resolve)
    signal.addEventListener('abort', leave, { once: true })
    this.#goOn()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  #goOn(): void {
    for (const begin of this.#waiting) {
      if (this.#free === 0) return
      this.#free -= 1
      this.#waiting.delete(begin)
      begin()
    }
  }
}
