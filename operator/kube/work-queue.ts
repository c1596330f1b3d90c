// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel, Clock } from './clock.ts'
import type { KubeObserver } from './observer.ts'

const firstDelayMs = 5
/** No watch reports that a quota or a webhook was fixed: no user should have to wait long for it. */
const maxDelayMs = 120_000

export interface WorkQueueOptions {
  /** For metrics. */
  readonly name: string
  readonly clock: Clock
  readonly observer?: KubeObserver
}

/**
 * Keys that wait for work. A key is in it at most once, however often it is added, and no two
 * workers have the same key: one that is added while it is worked on comes again afterwards.
 *
 * Three sets make it so: `waiting` is what the next `take` gives, in order; `dirty` is what needs
 * work; `processing` is what a worker has.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  /** How often in a row each key has failed. */
  readonly #failures = new Map<string, number>()
  /** With the time at which each was added. */
  readonly #waiting = new Map<string, number>()
  readonly #dirty = new Set<string>()
  /** With the time at which each was taken. */
  readonly #processing = new Map<string, number>()
  readonly #later = new Map<string, { readonly atMs: number; readonly cancel: Cancel }>()
  readonly #takers: ((key: string | null) => void)[] = []
  #isShutDown = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  /** How many keys wait for a worker. */
  get depth(): number {
    return this.#waiting.size
  }

  /** How many keys workers have. */
  get active(): number {
    return this.#processing.size
  }

  /** True when there is nothing to do, now or later. */
  get isIdle(): boolean {
    return this.#dirty.size === 0 && this.#processing.size === 0 && this.#later.size === 0
  }

  /** How long the longest of the present works has taken so far, in milliseconds. */
  get longestMs(): number {
    // One reading of the clock: with two, the time between them would count as work.
    const nowMs = this.#options.clock.nowMs()
    return nowMs - Math.min(nowMs, ...this.#processing.values())
  }

  add(key: string): void {
    if (this.#isShutDown || this.#dirty.has(key)) return
    this.#options.observer?.queueAdded?.(this.#options.name)
    this.#dirty.add(key)
    if (!this.#processing.has(key)) this.#wait(key)
  }

  /** Adds the key in `delayMs`. Of several such calls the earliest holds. */
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
   *
   * @param askedMs what a server asked for by `Retry-After`; the page of a proxy must not stop work for a day
   */
  addRateLimited(key: string, askedMs = 0): void {
    if (this.#isShutDown) return
    this.#options.observer?.queueRetried?.(this.#options.name)
    const before = this.failuresOf(key)
    this.#failures.set(key, before + 1)
    const delayMs = Math.max(askedMs, firstDelayMs * 2 ** before)
    this.addAfter(key, Math.min(delayMs, maxDelayMs))
  }

  /** The key's next failure counts as its first. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** How often the key has failed since it was last forgotten. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** The next key, as soon as there is one; call `done` after the work on it. Null when the queue is shut down. */
  take(): Promise<string | null> {
    if (this.#isShutDown) return Promise.resolve(null)
    const [next] = this.#waiting
    if (next === undefined) return new Promise((resolve) => this.#takers.push(resolve))
    return Promise.resolve(this.#hand(next[0], next[1]))
  }

  /** The work on a key that was taken has ended, well or not. */
  done(key: string): void {
    const { clock, name, observer } = this.#options
    const takenMs = this.#processing.get(key)
    if (takenMs === undefined) return
    this.#processing.delete(key)
    observer?.queueDone?.(name, clock.nowMs() - takenMs)
    if (this.#dirty.has(key)) this.#wait(key)
  }

  /** Forgets the keys that wait, and resolves each `take` with null. Work that has begun goes on. */
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
