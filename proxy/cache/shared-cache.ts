// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { sleep, type Clock } from '../clock/clock.ts'
import { bufferOf } from '../json/scanner.ts'
import { type Key, textOf } from '../relay/call-key.ts'
import type { SharedStore } from '../store/shared-store.ts'
import { decodeEntry, encodeEntry, type SharedEntry } from './entry-codec.ts'

/** Timeout of a lookup. */
export const lookupTimeoutMs = 50
/** Pause after a failure, during which only one call at a time waits for a broken store. */
const pauseMs = 1_000
/** Only one process calls an upstream for this long. Then others call too: it may have died. */
export const leaseMs = 250
/** Interval at which other replicas check for the answer. */
const pollMs = 20
const none = Buffer.alloc(0)

/** Result of a lookup. */
export interface Found<T> {
  readonly entry: T | null
  /** Number of reorgs that the replicas have seen; null if the store is down. */
  readonly reorgs: number | null
}

/** Error counters of the store. */
export interface SharedFigures {
  failures: number
  /** Unreadable entries: damaged, or of another version or key. */
  broken: number
}

/** The key of a call, or that of a slice of logs. */
export type AnswerKey = Key | string

/** The answer that this process has; null if it has none and is not fetching it. */
export type Peek = (key: Key) => SharedEntry | 'in-flight' | null

/** Shares the answers of one chain and interface with other processes. */
export interface AnswerSharing extends Pick<SharedCache, 'figures' | 'keep' | 'drop' | 'reorged'> {
  /** Whether all processes use one clock, so that short lifetimes can be compared. */
  readonly isOneClock?: boolean
  /**
   * Looks an answer up, and waits briefly for one that another process is fetching.
   * @param adopt converts the entry for the call; null if the call cannot use it
   * @param mayWait whether the call may wait for another process that is fetching the answer
   * @param lifetimeMs how long such an answer stays valid
   * @returns null if no process can have it, so that nothing needs to be kept or dropped
   */
  lookUp<T>(
    key: AnswerKey,
    adopt: (entry: SharedEntry) => T | null,
    mayWait: boolean,
    lifetimeMs?: number,
  ): Promise<Found<T> | null> | null
}

/** The shared store for all chains of the process. */
export interface SharedAnswers {
  readonly keys: SharedStore
  readonly figures: SharedFigures
  /**
   * @param onReorg called when another process saw a reorg, or may have seen one
   * @param peek absent if this process must store what it shares
   */
  readonly share: (scope: string, clock: Clock, onReorg: () => void, peek?: Peek) => AnswerSharing
}

/** Shares answers by a store. */
export function shareByStore(keys: SharedStore): SharedAnswers {
  const figures = { failures: 0, broken: 0 }
  const share: SharedAnswers['share'] = (scope, clock, onReorg) =>
    new SharedCache({ keys, figures }, clock, scope, onReorg)
  return { keys, figures, share }
}

/** Shared answers in a store. Without the store, every lookup is a miss. */
export class SharedCache {
  readonly #keys: SharedStore
  readonly figures: SharedFigures
  readonly #clock: Clock
  readonly #scope: string
  #pausedUntilMs = 0
  /** Reorgs that the store does not know about yet. */
  #unreported = 0

  /** @param onReorg called when another replica saw a reorg, or may have seen one */
  constructor(
    { keys, figures }: Omit<SharedAnswers, 'share'>,
    clock: Clock,
    scope: string,
    onReorg: () => void,
  ) {
    this.#keys = keys
    this.figures = figures
    this.#clock = clock
    this.#scope = scope
    keys.watch(`r:${scope}`, { message: onReorg, listening: (isUp) => isUp && onReorg() })
  }

  async lookUp<T>(
    key: AnswerKey,
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
      // This replica calls an upstream if it gets the lease, or if the store fails.
      if (
        !mayWait ||
        nowMs >= untilMs ||
        !(await this.#try((keys) => keys.claim(`l:${name}`, none, leaseMs)))
      )
        return { entry, reorgs }
      await sleep(this.#clock, Math.min(pollMs, untilMs - nowMs))
    }
  }

  /** Stores an answer. */
  async keep(key: string, entry: SharedEntry): Promise<void> {
    const name = nameOf(key)
    const bytes = await encodeEntry(name, entry).catch(() => null)
    if (bytes === null) return
    await this.#try(async (keys) => {
      await keys.set(`a:${name}`, bytes, Math.ceil(entry.ttlMs))
      // A replica that has just missed the entry must not get the lease and fetch it again.
      await keys.set(`l:${name}`, none, lookupTimeoutMs)
    })
  }

  /** Deletes the answer and the lease, so that another replica may call an upstream immediately. */
  async drop(key: string): Promise<void> {
    const name = nameOf(key)
    await this.#try(async (keys) => {
      await keys.delete(`a:${name}`)
      await keys.delete(`l:${name}`)
    })
  }

  /** Invalidates entries near the head for all replicas. */
  async reorged(): Promise<void> {
    this.#unreported += 1
    const count = await this.#try((keys) => keys.increment(`r:${this.#scope}`))
    if (count !== null) this.#unreported = 0
  }

  async #get(name: string): Promise<Found<SharedEntry>> {
    if (this.#unreported > 0) await this.reorged()
    const found = await this.#try((keys) => keys.get(`a:${name}`, `r:${this.#scope}`))
    if (found === null) return { entry: null, reorgs: null }
    const { value, count: reorgs = 0 } = found
    const entry = value ? await decodeEntry(name, bufferOf(value)) : null
    if (value && !entry) this.figures.broken += 1
    return { entry: entry && (entry.head < 0 || entry.reorgs === reorgs) ? entry : null, reorgs }
  }

  async #try<T>(command: (keys: SharedStore) => Promise<T>): Promise<T | null> {
    const nowMs = this.#clock.nowMs()
    if (nowMs < this.#pausedUntilMs) return null
    // Only this call tests whether the store has recovered.
    if (this.#pausedUntilMs > 0) this.#pausedUntilMs = nowMs + pauseMs
    try {
      const done = await command(this.#keys)
      this.#pausedUntilMs = 0
      return done
    } catch {
      this.figures.failures += 1
      this.#pausedUntilMs = this.#clock.nowMs() + pauseMs
      return null
    }
  }
}

/** Uses a digest, so that client data never appears in a key. */
function nameOf(key: AnswerKey): string {
  return hash('sha256', typeof key === 'string' ? key : textOf(key), 'base64url')
}
