// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from './clock.ts'

/** What is under way. */
export interface Progress {
  /** How far it has come, in a few words for the log. */
  readonly progress: string
}

/** What may be cancelled listens to this. An `AbortSignal` is one, and so is a `Cancellation`. */
export interface CancelSignal {
  readonly aborted: boolean
  /** Set by what listens to it, so that what gives up on it can say how far it had come. */
  underWay?: Progress | null
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * A flag with listeners, each called once: an `AbortController` and its signal at a fraction of their
 * cost, since one is made for every call and every attempt, and nearly none is ever aborted. A signal that
 * was listened to would also outlive its call until a full collection, and the call with it.
 */
export class Cancellation implements CancelSignal, Progress {
  underWay: Progress | null = null
  #isAborted = false
  /** Most have one listener, the wire. */
  #listeners: (() => void)[] | null = null

  get aborted(): boolean {
    return this.#isAborted
  }

  get progress(): string {
    return this.underWay?.progress ?? 'no connection was there yet'
  }

  abort(): void {
    if (this.#isAborted) return
    this.#isAborted = true
    const listeners = this.#listeners
    this.#listeners = null
    for (const listener of listeners ?? []) listener()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listeners === null) this.#listeners = [listener]
    else if (!this.#listeners.includes(listener)) this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1
    if (at >= 0) this.#listeners?.splice(at, 1)
  }
}

/** What the work comes to, or the error as soon as the signal is aborted; the work goes on. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: CancelSignal,
  error: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(error())
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    const settle = () => signal.removeEventListener('abort', leave)
    work.finally(settle).then(resolve, reject)
  })
}

/**
 * Runs work that takes a signal, which is aborted with the outer signal, and when its time is over.
 * No timer and no listener is left when the work has ended.
 * @param tooLate what it fails by when its time was over; where left out, by its own error
 */
export async function within<T>(
  clock: Clock,
  outer: CancelSignal,
  budgetMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  tooLate?: () => Error,
): Promise<T> {
  const abort = new AbortController()
  const stop = () => abort.abort()
  let isOver = false
  const cancel = clock.after(budgetMs, () => {
    isOver = true
    stop()
  })
  if (outer.aborted) stop()
  else outer.addEventListener('abort', stop, { once: true })
  try {
    return await work(abort.signal)
  } catch (error) {
    throw isOver && tooLate ? tooLate() : error
  } finally {
    cancel()
    outer.removeEventListener('abort', stop)
  }
}
