// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from './clock.ts'

/** Work in progress. */
export interface Progress {
  /** How far the work has come, in a few words for the log. */
  readonly progress: string
}

/** Signal for work that may be cancelled, such as an `AbortSignal` or a `Cancellation`. */
export interface CancelSignal {
  readonly aborted: boolean
  /** Set by the work, so that whoever cancels it can report its progress. */
  underWay?: Progress | null
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * A flag with listeners, each called once. It replaces `AbortController` at a fraction of the cost,
 * since every call and attempt makes one, and nearly none is ever aborted. A used `AbortSignal`
 * would also outlive its call until a full collection, and retain the call.
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

/** The result of the work, or the error once the signal is aborted; the work continues. */
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
 * Runs work with a signal that aborts with the outer signal, or after the deadline. Leaves no timer
 * or listener behind.
 * @param tooLate error after the deadline; absent: the work's own error
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
