// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Held, SharedKeys } from '../redis/shared-keys.ts'

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
  readonly store: ClaimStore | null
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

const defaultMaxSessions = 100_000
const maxDropped = 10_000
const noEra = -1

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
    this.#maxSessions = options.maxSessions ?? defaultMaxSessions
    if (options.store === null) this.#era = 0
    options.store?.listen({
      dropped: (key, node) => {
        this.#drops += 1
        if (this.#choices.get(key)?.node === node) this.#choices.delete(key)
        this.#avoid(key, node)
      },
      listening: (isUp) => {
        this.#era = isUp ? ++this.#eras : noEra
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
    const { store } = this.#options
    if (store === null) return this.#claimHere(key, choose)
    const started = this.#ask(store, key, choose).finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** The node of a session cannot serve it. @throws the error of the store, which keeps the choice then */
  async drop(key: string, node: string): Promise<void> {
    const { store, count } = this.#options
    if (this.#choices.get(key)?.node === node) this.#choices.delete(key)
    this.#avoid(key, node)
    try {
      await store?.drop(key, node)
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

  async #ask(store: ClaimStore, key: string, choose: Choose): Promise<string | null> {
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
      const found = await store.find(key)
      if (found) {
        count('adopted')
        return keep(found.node, found.leftMs)
      }
      const own = known?.node ?? choose(this.#dropped.get(key) ?? null)
      if (own === null) {
        count('no_candidate')
        return null
      }
      const leftMs = known ? Math.max(Math.ceil(known.untilMs - startedMs), 1) : lifetimeMs
      const first = await store.claim(key, own, leftMs)
      count(first === null ? 'claimed' : 'lost_race')
      return keep(first ?? own, leftMs)
    } catch (error) {
      count('error')
      throw error
    }
  }

  #live(key: string): Choice | null {
    const choice = this.#choices.get(key)
    return choice && choice.untilMs > this.#options.clock.nowMs() ? choice : null
  }

  #keep(key: string, node: string, leftMs: number, era: number): void {
    this.#dropped.delete(key)
    this.#choices.delete(key)
    // Those that have ended go first, then the oldest.
    if (this.#choices.size >= this.#maxSessions && this.size >= this.#maxSessions)
      deleteOldest(this.#choices)
    this.#choices.set(key, { node, untilMs: this.#options.clock.nowMs() + leftMs, era })
  }

  #avoid(key: string, node: string): void {
    this.#dropped.delete(key)
    if (this.#dropped.size >= maxDropped) deleteOldest(this.#dropped)
    this.#dropped.set(key, node)
  }
}

function deleteOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

/** A choice that some replica stored. */
export interface Claim {
  /** Name of the upstream. */
  readonly node: string
  /** Until it ends, on the clock of the store. */
  readonly leftMs: number
}

/** Receives what other replicas do. */
export interface ClaimListener {
  /** This choice was dropped. */
  dropped(key: string, node: string): void
  /** Whether drops are received; earlier ones may have been missed. */
  listening(isUp: boolean): void
}

/** Where replicas keep the choices of sessions. Each method throws when the store fails. */
export interface ClaimStore {
  /** The choice that stands; null: none. */
  find(key: string): Promise<Claim | null>
  /** Stores a choice unless there is one. @returns the node of the one that stands; null: this one is stored */
  claim(key: string, node: string, ttlMs: number): Promise<string | null>
  /** Removes a choice, unless it is another one by now, and announces that to all replicas. */
  drop(key: string, node: string): Promise<void>
  listen(listener: ClaimListener): void
}

const prefix = 'sticky:'

/** The claims in a store of keys, each under one that ends by itself. */
export class SharedClaims implements ClaimStore {
  readonly #keys: SharedKeys

  constructor(keys: SharedKeys) {
    this.#keys = keys
  }

  async find(key: string): Promise<Claim | null> {
    const { value, ttlMs: leftMs = 0 } = await this.#keys.get(prefix + key)
    return value && leftMs > 0 ? { node: textOf(value), leftMs } : null
  }

  async claim(key: string, node: string, ttlMs: number): Promise<string | null> {
    const first = await this.#keys.claim(prefix + key, Buffer.from(node), ttlMs)
    return first ? textOf(first) : null
  }

  async drop(key: string, node: string): Promise<void> {
    await this.#keys.delete(prefix + key, Buffer.from(node))
  }

  listen({ dropped, listening }: ClaimListener): void {
    const message = ({ key = '', value }: Held) => {
      if (value) dropped(key.slice(prefix.length), textOf(value))
    }
    this.#keys.watch(prefix, { message, listening })
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
