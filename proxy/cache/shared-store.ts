// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Commands, RedisStore } from '../redis/redis.ts'
import { decodeEntry, encodeEntry, type SharedEntry } from './entry-codec.ts'

/** A lookup takes no longer. */
export const lookupTimeoutMs = 50
/** After a failure it is not asked for so long: one call in a while waits for it, and not each. */
const restMs = 1_000
/** One replica asks an upstream for this long; then the others do as well, for it may have died. */
const leaseMs = 250
/** How often the others look whether there is an answer. */
const pollMs = 20

/** What a lookup came to. */
export interface Found {
  readonly entry: SharedEntry | null
  /** How many reorgs the replicas have seen; null: not known, since the store is down. */
  readonly reorgs: number | null
}

/** What went wrong with the store. */
export interface SharedFigures {
  failures: number
  /** Answers that could not be read: of another version, or damaged. */
  broken: number
}

/** The Redis of the process, for all of its chains. */
export interface SharedRedis {
  readonly redis: RedisStore
  readonly figures: SharedFigures
}

const down: Found = { entry: null, reorgs: null }

/** Answers that replicas share in a Redis, of one chain and interface. It never fails: without it everything is a miss. */
export class SharedStore {
  readonly #redis: RedisStore
  readonly #figures: SharedFigures
  readonly #clock: Clock
  readonly #scope: string
  #restUntilMs = -Infinity
  /** Reorgs that the store was not told of. */
  #untold = 0

  /** @param onReorg another replica saw one, or may have without notice */
  constructor({ redis, figures }: SharedRedis, clock: Clock, scope: string, onReorg: () => void) {
    this.#redis = redis
    this.#figures = figures
    this.#clock = clock
    this.#scope = scope
    redis.subscribe(`reorgs:${scope}`, {
      message: onReorg,
      listening: (isUp) => {
        if (isUp) onReorg()
      },
    })
  }

  /**
   * Looks for an answer, and waits a moment for one that another replica is asking for.
   * @param isGood for this call
   * @param mayWait else it is on its own
   */
  async lookUp(
    key: string,
    isGood: (entry: SharedEntry) => boolean,
    mayWait: boolean,
  ): Promise<Found> {
    const untilMs = this.#clock.nowMs() + leaseMs
    const name = nameOf(key)
    for (;;) {
      const found = await this.#get(name)
      if (found.reorgs === null || (found.entry && isGood(found.entry))) return found
      const miss = { entry: null, reorgs: found.reorgs }
      const nowMs = this.#clock.nowMs()
      if (!mayWait || nowMs >= untilMs || (await this.#lease(name))) return miss
      await sleep(this.#clock, Math.min(pollMs, untilMs - nowMs))
    }
  }

  /** Keeps an answer. */
  async keep(key: string, entry: SharedEntry, ttlMs: number): Promise<void> {
    const bytes = await encodeEntry(entry).catch(() => null)
    if (bytes === null) return
    const name = nameOf(key)
    await this.#try(async (redis) => {
      await redis.set(`a:${name}`, bytes, 'PX', Math.ceil(ttlMs))
      await redis.del(`l:${name}`)
    }, null)
  }

  /** There is nothing to keep: another replica may ask at once. */
  async drop(key: string): Promise<void> {
    await this.#try((redis) => redis.del(`l:${nameOf(key)}`), null)
  }

  /** What is near the head is another branch now, for all replicas. */
  async reorged(): Promise<void> {
    this.#untold += 1
    const told = await this.#try((redis) => redis.incr(`r:${this.#scope}`), null)
    if (told === null) return
    this.#untold = 0
    await this.#redis.publish(`reorgs:${this.#scope}`, '').catch(() => null)
  }

  async #get(name: string): Promise<Found> {
    if (this.#untold > 0) await this.reorged()
    const both = await this.#try(
      async (redis) => Promise.all([redis.getBuffer(`a:${name}`), redis.get(`r:${this.#scope}`)]),
      null,
    )
    if (both === null) return down
    const [bytes, counted] = both
    const reorgs = Number(counted ?? 0)
    const entry = bytes && (await decodeEntry(bytes))
    if (bytes && !entry) this.#figures.broken += 1
    const isOfBranch = entry !== null && (entry.head < 0 || entry.reorgs === reorgs)
    return { entry: isOfBranch ? entry : null, reorgs }
  }

  /** @returns whether this replica is to ask, also where that cannot be agreed on */
  async #lease(name: string): Promise<boolean> {
    const given = await this.#try((redis) => redis.set(`l:${name}`, '', 'PX', leaseMs, 'NX'), 'OK')
    return given === 'OK'
  }

  async #try<T, D>(command: (redis: Commands) => Promise<T>, instead: D): Promise<T | D> {
    if (this.#clock.nowMs() < this.#restUntilMs) return instead
    try {
      return await this.#redis.run(command)
    } catch {
      this.#figures.failures += 1
      this.#restUntilMs = this.#clock.nowMs() + restMs
      return instead
    }
  }
}

/** A digest: what clients ask for stands in no key. */
function nameOf(key: string): string {
  return hash('sha256', key, 'base64url')
}
