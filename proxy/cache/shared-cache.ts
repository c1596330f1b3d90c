// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { sleep, type Clock } from '../clock/clock.ts'
import { bufferOf } from '../json/scanner.ts'
import type { SharedStore } from '../redis/shared-store.ts'
import { decodeEntry, encodeEntry, type SharedEntry } from './entry-codec.ts'

/** A lookup takes no longer. */
export const lookupTimeoutMs = 50
/** After a failure it is not asked for so long: one call in a while waits for it, and not each. */
const restMs = 1_000
/** One replica asks an upstream for this long; then the others do as well, for it may have died. */
const leaseMs = 250
/** How often the others look whether there is an answer. */
const pollMs = 20
const none = Buffer.alloc(0)

/** What a lookup came to. */
export interface Found<T> {
  readonly entry: T | null
  /** How many reorgs the replicas have seen; null: not known, since the store is down. */
  readonly reorgs: number | null
}

/** What went wrong with the store. */
export interface SharedFigures {
  failures: number
  /** Unreadable answers: of another version, of another key, or damaged. */
  broken: number
}

/** The store of the process, for all of its chains. */
export interface SharedAnswers {
  readonly keys: SharedStore
  readonly figures: SharedFigures
}

/** Answers that replicas share, of one chain and interface. It never fails: without it everything is a miss. */
export class SharedCache {
  readonly #keys: SharedStore
  readonly figures: SharedFigures
  readonly #clock: Clock
  readonly #scope: string
  #restUntilMs = 0
  /** Reorgs that the store was not told of. */
  #untold = 0

  /** @param onReorg another replica saw one, or may have without notice */
  constructor({ keys, figures }: SharedAnswers, clock: Clock, scope: string, onReorg: () => void) {
    this.#keys = keys
    this.figures = figures
    this.#clock = clock
    this.#scope = scope
    keys.watch(`r:${scope}`, { message: onReorg, listening: (isUp) => isUp && onReorg() })
  }

  /**
   * Looks for an answer, and waits a moment for one that another replica is asking for.
   * @param adopt returns the entry in the form for the call; null if the call cannot use it
   * @param mayWait else it is on its own
   */
  async lookUp<T>(
    key: string,
    adopt: (entry: SharedEntry) => T | null,
    mayWait: boolean,
  ): Promise<Found<T>> {
    const untilMs = this.#clock.nowMs() + leaseMs
    const name = nameOf(key)
    for (;;) {
      const { entry: stored, reorgs } = await this.#get(name)
      const entry = stored && adopt(stored)
      if (reorgs === null || entry) return { entry, reorgs }
      const nowMs = this.#clock.nowMs()
      // It is to ask, also where that cannot be agreed on.
      if (
        !mayWait ||
        nowMs >= untilMs ||
        !(await this.#try((keys) => keys.claim(`l:${name}`, none, leaseMs), null))
      )
        return { entry, reorgs }
      await sleep(this.#clock, Math.min(pollMs, untilMs - nowMs))
    }
  }

  /** Keeps an answer. */
  async keep(key: string, entry: SharedEntry): Promise<void> {
    const name = nameOf(key)
    const bytes = await encodeEntry(name, entry).catch(() => null)
    if (bytes === null) return
    await this.#try(async (keys) => {
      await keys.set(`a:${name}`, bytes, Math.ceil(entry.ttlMs))
      // Who has just looked in vain claims the lease next: it would ask a second time.
      await keys.set(`l:${name}`, none, lookupTimeoutMs)
    }, null)
  }

  /** There is nothing to keep, nor is what was kept before: another replica may ask at once. */
  async drop(key: string): Promise<void> {
    const name = nameOf(key)
    await this.#try(async (keys) => {
      await keys.delete(`a:${name}`)
      await keys.delete(`l:${name}`)
    }, null)
  }

  /** What is near the head is another branch now, for all replicas. */
  async reorged(): Promise<void> {
    this.#untold += 1
    const told = await this.#try((keys) => keys.increment(`r:${this.#scope}`), null)
    if (told !== null) this.#untold = 0
  }

  async #get(name: string): Promise<Found<SharedEntry>> {
    if (this.#untold > 0) await this.reorged()
    const found = await this.#try((keys) => keys.get(`a:${name}`, `r:${this.#scope}`), null)
    if (found === null) return { entry: null, reorgs: null }
    const { value, count: reorgs = 0 } = found
    const entry = value ? await decodeEntry(name, bufferOf(value)) : null
    if (value && !entry) this.figures.broken += 1
    return { entry: entry && (entry.head < 0 || entry.reorgs === reorgs) ? entry : null, reorgs }
  }

  async #try<T, D>(command: (keys: SharedStore) => Promise<T>, instead: D): Promise<T | D> {
    const nowMs = this.#clock.nowMs()
    if (nowMs < this.#restUntilMs) return instead
    // It failed before: this call finds out whether it still does.
    if (this.#restUntilMs > 0) this.#restUntilMs = nowMs + restMs
    try {
      const done = await command(this.#keys)
      this.#restUntilMs = 0
      return done
    } catch {
      this.figures.failures += 1
      this.#restUntilMs = this.#clock.nowMs() + restMs
      return instead
    }
  }
}

/** A digest: what clients ask for stands in no key. */
function nameOf(key: string): string {
  return hash('sha256', key, 'base64url')
}
