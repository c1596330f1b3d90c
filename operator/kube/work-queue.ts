// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'
import type { KubeObserver } from './observer.ts'

const firstDelayMs = 5
/** Limits how long users wait after they fix a quota or a webhook, which no watch reports. */
const maxDelayMs = 120_000

export interface WorkQueueOptions {
  /** Label of its metrics. */
  readonly name: string
  readonly clock: Clock
  readonly observer?: KubeObserver
}

/**
 * Queue of keys to process. It has each key at most once, and no two workers have the same key: a
 * key that is added while being processed is queued again afterwards.
 *
 * Three sets ensure this: `waiting` has the keys for `take`, in order; `dirty` has the keys that
 * need work; `processing` has the keys of workers.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  /** Consecutive failures of each key. */
  readonly #failures = new Map<string, number>()
  /** Time at which each key was added. */
  readonly #waiting = new Map<string, number>()
  readonly #dirty = new Set<string>()
  /** Time at which each key was taken. */
  readonly #processing = new Map<string, number>()
  readonly #later = new Map<string, { readonly atMs: number; readonly cancel: Cancel }>()
  readonly #takers: ((key: string | null) => void)[] = []
  #isShutDown = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  /** Number of keys waiting for a worker. */
  get depth(): number {
    return this.#waiting.size
  }

  /** Number of keys being processed. */
  get active(): number {
    return this.#processing.size
  }

  /** Whether there is no work, now or later. */
  get isIdle(): boolean {
    return this.#dirty.size === 0 && this.#processing.size === 0 && this.#later.size === 0
  }

  /** Milliseconds since the oldest key in process was taken; 0 if there is none. */
  get longestMs(): number {
    // Read the clock once: the time between two readings would count as work.
    const nowMs = this.#options.clock.nowMs()
    return nowMs - Math.min(nowMs, ...this.#processing.values())
  }

  add(key: string): void {
    if (this.#isShutDown || this.#dirty.has(key)) return
    this.#options.observer?.queueAdded?.(this.#options.name)
    this.#dirty.add(key)
    if (!this.#processing.has(key)) this.#wait(key)
  }

  /** Adds the key after `delayMs`. The earliest of several such calls wins. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isShutDown) return
    if (delayMs <= 0) return this.add(key)
    const { clock } = this.#options
    const atMs = clock.nowMs() + delayMs
    const planned = this.#later.get(key)
    if (planned && planned.atMs <= atMs) return
    planned?.cancel()
    const cancel = clock.after(delayMs, () => {
      this.#later.delete(key)
      this.add(key)
    })
    this.#later.set(key, { atMs, cancel })
  }

  /**
   * Adds the key after a delay that doubles with each failure until `forget`, up to two minutes.
   * @param retryAfterMs delay that the server asked for; capped too, because a proxy may have sent
   * it
   */
  addRateLimited(key: string, retryAfterMs = 0): void {
    if (this.#isShutDown) return
    this.#options.observer?.queueRetried?.(this.#options.name)
    const before = this.failuresOf(key)
    this.#failures.set(key, before + 1)
    const delayMs = Math.max(retryAfterMs, firstDelayMs * 2 ** before)
    this.addAfter(key, Math.min(delayMs, maxDelayMs))
  }

  /** Resets the key's failures. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** Failures of the key since the last `forget`. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** Resolves with the next key, for which the caller must call `done`; null after a shutdown. */
  take(): Promise<string | null> {
    if (this.#isShutDown) return Promise.resolve(null)
    const [next] = this.#waiting
    if (next === undefined) return new Promise((resolve) => this.#takers.push(resolve))
    return Promise.resolve(this.#hand(next[0], next[1]))
  }

  /** Ends the work on a key, successful or not. */
  done(key: string): void {
    const { clock, name, observer } = this.#options
    const takenMs = this.#processing.get(key)
    if (takenMs === undefined) return
    this.#processing.delete(key)
    observer?.queueDone?.(name, clock.nowMs() - takenMs)
    if (this.#dirty.has(key)) this.#wait(key)
  }

  /** Drops the waiting keys, and resolves each `take` with null. Running work continues. */
  shutDown(): void {
    this.#isShutDown = true
    for (const { cancel } of this.#later.values()) cancel()
    for (const set of [this.#later, this.#waiting, this.#dirty]) set.clear()
    for (const taker of this.#takers.splice(0)) taker(null)
  }

  #wait(key: string): void {
    const nowMs = this.#options.clock.nowMs()
    const taker = this.#takers.shift()
    if (taker) taker(this.#hand(key, nowMs))
    else this.#waiting.set(key, nowMs)
  }

  #hand(key: string, addedMs: number): string {
    const { clock, name, observer } = this.#options
    this.#waiting.delete(key)
    this.#dirty.delete(key)
    this.#processing.set(key, clock.nowMs())
    observer?.queueTaken?.(name, clock.nowMs() - addedMs)
    return key
  }
}
