// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rememberedLimits } from '../bytes/limits.ts'
import type { Clock } from '../clock/clock.ts'
import type { SharedKeys } from '../redis/shared-keys.ts'

/** How a request came to its session's node, or why it did not. */
export const stickyOutcomes = [
  'local_hit',
  'adopted',
  'claimed',
  'lost_race',
  'error',
  'no_candidate',
  'invalidated',
] as const
export type StickyOutcome = (typeof stickyOutcomes)[number]

export interface SessionsOptions {
  readonly clock: Clock
  /** Null: this replica shares its choices with none. */
  readonly keys: SharedKeys | null
  /** How long a choice stands. */
  readonly lifetimeMs: number
  readonly count: (outcome: StickyOutcome) => void
  readonly maxSessions?: number
}

/** Chooses a node for a session that has none; null: there is none. `avoid`: it failed the session. */
export type Choose = (avoid: string | null) => string | null

interface Choice {
  readonly node: string
  readonly untilMs: number
  /** The era in which the store confirmed it. */
  readonly era: number
}

/** Choices that are stored again at the same time. */
const atOnce = 100
const noEra = -1
const prefix = 'sticky:'

/**
 * Which node each session has. What the store confirmed is answered from memory for as long as drops by other replicas
 * are received; after a gap each choice is confirmed again, and stored again if the store has lost it.
 */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #maxSessions: number
  readonly #choices = new Map<string, Choice>()
  readonly #running = new Map<string, Promise<string | null>>()
  /** The node that failed a session, until another is chosen. */
  readonly #dropped = new Map<string, string>()
  #era = noEra
  #eras = 0
  #drops = 0

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#maxSessions = options.maxSessions ?? rememberedLimits.sessions
    if (options.keys === null) this.#era = 0
    const { keys } = options
    keys?.watch(prefix, {
      message: ({ key = '', value }) => {
        if (!value) return
        this.#drops += 1
        this.#dropHere(key.slice(prefix.length), textOf(value))
      },
      listening: (isUp) => {
        this.#era = isUp ? ++this.#eras : noEra
        if (isUp && keys) void this.#storeAgain(keys, this.#era)
      },
    })
  }

  /** Live choices in the memory of this replica. */
  get size(): number {
    const nowMs = this.#options.clock.nowMs()
    for (const [key, { untilMs }] of this.#choices) if (untilMs <= nowMs) this.#choices.delete(key)
    return this.#choices.size
  }

  /**
   * The node of a session, which is chosen now if there is none; null: there is none to choose. At once where memory has
   * it. @throws the error of the store
   */
  find(key: string, choose: Choose): string | null | Promise<string | null> {
    const choice = this.#live(key)
    if (choice && choice.era === this.#era && this.#era !== noEra) {
      this.#options.count('local_hit')
      return choice.node
    }
    const running = this.#running.get(key)
    if (running) return this.#wait(running)
    const { keys } = this.#options
    if (keys === null) return this.#claimHere(key, choose)
    const started = this.#ask(keys, key, choose).finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** The node of a session cannot serve it. @throws the error of the store, which keeps the choice then */
  async drop(key: string, node: string): Promise<void> {
    const { keys, count } = this.#options
    this.#dropHere(key, node)
    try {
      await keys?.delete(prefix + key, Buffer.from(node))
    } catch (error) {
      count('error')
      throw error
    }
    count('invalidated')
  }

  /** Another request of this session asks the store already. */
  async #wait(running: Promise<string | null>): Promise<string | null> {
    const { count } = this.#options
    try {
      const node = await running
      count(node === null ? 'no_candidate' : 'local_hit')
      return node
    } catch (error) {
      count('error')
      throw error
    }
  }

  #claimHere(key: string, choose: Choose): string | null {
    const { count, lifetimeMs } = this.#options
    const node = choose(this.#dropped.get(key) ?? null)
    count(node === null ? 'no_candidate' : 'claimed')
    if (node !== null) this.#keep(key, node, lifetimeMs, this.#era)
    return node
  }

  async #ask(keys: SharedKeys, key: string, choose: Choose): Promise<string | null> {
    const { clock, count, lifetimeMs } = this.#options
    const known = this.#live(key)
    const [era, drops, startedMs] = [this.#era, this.#drops, clock.nowMs()]
    const keep = (node: string, leftMs: number) => {
      // With a drop in between, what the store said may be from before it.
      const sureIn = drops === this.#drops ? era : noEra
      this.#keep(key, node, leftMs - (clock.nowMs() - startedMs), sureIn)
      return node
    }
    try {
      const { value, ttlMs = 0 } = await keys.get(prefix + key)
      if (value && ttlMs > 0) {
        count('adopted')
        return keep(textOf(value), ttlMs)
      }
      const own = known?.node ?? choose(this.#dropped.get(key) ?? null)
      if (own === null) {
        count('no_candidate')
        return null
      }
      const leftMs = known ? Math.max(Math.ceil(known.untilMs - startedMs), 1) : lifetimeMs
      const first = await keys.claim(prefix + key, Buffer.from(own), leftMs)
      count(first ? 'lost_race' : 'claimed')
      return keep(first ? textOf(first) : own, leftMs)
    } catch (error) {
      count('error')
      throw error
    }
  }

  /** After a gap: a store that lost the choices must have them before another replica asks it. */
  async #storeAgain(keys: SharedKeys, era: number): Promise<void> {
    const choices = [...this.#choices]
    try {
      for (let at = 0; at < choices.length && era === this.#era; at += atOnce)
        await Promise.all(
          choices.slice(at, at + atOnce).map(async ([key, { node, untilMs }]) => {
            const leftMs = Math.ceil(untilMs - this.#options.clock.nowMs())
            if (leftMs > 0) await keys.claim(prefix + key, Buffer.from(node), leftMs)
          }),
        )
    } catch {
      // It is gone again, and they are stored when it is back.
    }
  }

  #live(key: string): Choice | null {
    const choice = this.#choices.get(key)
    return choice && choice.untilMs > this.#options.clock.nowMs() ? choice : null
  }

  #keep(key: string, node: string, leftMs: number, era: number): void {
    this.#dropped.delete(key)
    this.#choices.delete(key)
    makeRoom(this.#choices, this.#maxSessions)
    this.#choices.set(key, { node, untilMs: this.#options.clock.nowMs() + leftMs, era })
  }

  #dropHere(key: string, node: string): void {
    if (this.#choices.get(key)?.node === node) this.#choices.delete(key)
    this.#dropped.delete(key)
    makeRoom(this.#dropped, rememberedLimits.droppedSessions)
    this.#dropped.set(key, node)
  }
}

/** Deletes the oldest hundredth of a full map. One by one is slow: to find the oldest, a map walks past all deleted ones. */
function makeRoom(map: Map<string, unknown>, maxSize: number): void {
  if (map.size < maxSize) return
  for (const key of map.keys()) {
    map.delete(key)
    if (map.size <= maxSize * 0.99) return
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
