// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rememberedLimits } from '../bytes/limits.ts'
import { type Clock, sleep } from '../clock/clock.ts'
import { graceMs, sessionPrefix as prefix, type SharedStore } from '../store/shared-store.ts'
import { StoreError } from '../store/store-error.ts'

/** How a request reached its session's node, or why it did not. */
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
  /** Null if this replica shares its choices with no other. */
  readonly keys: SharedStore | null
  /** Lifetime of a choice. */
  readonly lifetimeMs: number
  readonly count: (outcome: StickyOutcome) => void
  /** The store has restarted or lost its data. */
  readonly storeLost?: () => void
  readonly maxSessions?: number
}

/** Chooses a node for a new session; null without a candidate. `avoid` has failed the session. */
export type Choose = (avoid: string | null) => string | null

interface Choice {
  readonly node: string
  readonly untilMs: number
  /** The era in which the store confirmed it. */
  readonly era: number
}

/** Choices that are restored concurrently. */
const atOnce = 100
const retryMs = 250
const noEra = -1

/**
 * The node of each session. Invariant, even if the store loses its data: a session changes its node
 * only after a replica dropped that node, and so failed a request. Three rules guarantee this:
 * - An open store serves only replicas whose choices it has, which one atomic step checks.
 * - A store that lost its data is closed until `graceMs` after the last restored choice. Replicas
 *   restore their own in that time. If two differ, one replica missed a drop, so the newer choice
 *   (with more time left) wins.
 * - Memory answers only what the store confirmed in this era. A gap in the announcements ends an
 *   era, as does a failed or late restore. A lost connection is found within 1.5 s, before a store
 *   opens.
 */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #maxSessions: number
  readonly #choices = new Map<string, Choice>()
  readonly #running = new Map<string, Promise<string | null>>()
  /** Nodes that failed a session, until another is chosen. */
  readonly #dropped = new Map<string, string>()
  /** The store generation with all choices of this replica; empty for none. */
  #generation = ''
  #joining: Promise<void> | null = null
  /** Whether the store may have changed since the join read it. */
  #isStale = false
  /** A new fleet finds a new, closed store. Until this time, requests wait instead of failing. */
  readonly #patientUntilMs: number
  #era = noEra
  #eras = 0
  #drops = 0

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#maxSessions = options.maxSessions ?? rememberedLimits.sessions
    this.#patientUntilMs = options.clock.nowMs() + graceMs + 1_000
    if (options.keys === null) this.#era = 0
    const { keys } = options
    keys?.watch(prefix, {
      message: ({ key = '', value }) => {
        if (!value) return this.#join(keys)
        this.#drops += 1
        this.#dropHere(key.slice(prefix.length), textOf(value))
      },
      listening: (isUp) => {
        this.#era = isUp ? ++this.#eras : noEra
        if (isUp) this.#join(keys)
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
   * The node of a session, chosen now if there is none; null without a candidate. Synchronous if
   * memory has it. @throws the error of the store
   */
  find(key: string, choose: Choose): string | null | Promise<string | null> {
    const { keys, count } = this.#options
    const choice = this.#live(key)
    if (choice && choice.era === this.#era && this.#era !== noEra) {
      count('local_hit')
      return choice.node
    }
    // Another request of this session is already reading the store.
    const running = this.#running.get(key)?.then((node) => {
      count(node === null ? 'no_candidate' : 'local_hit')
      return node
    })
    if (running) return this.#counted(running)
    if (keys === null) return this.#claimHere(key, choose)
    const pending = this.#counted(this.#ask(keys, key, choose))
    const started = pending.finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }

  /** The node cannot serve a session. @throws the store's error; the choice then stays */
  async drop(key: string, node: string): Promise<void> {
    const { keys, count } = this.#options
    this.#dropHere(key, node)
    if (keys) await this.#counted(keys.delete(prefix + key, Buffer.from(node)))
    count('invalidated')
  }

  /** Counts store errors. */
  #counted<T>(pending: Promise<T>): Promise<T> {
    return pending.catch((error: unknown) => {
      this.#options.count('error')
      throw error
    })
  }

  #claimHere(key: string, choose: Choose): string | null {
    const { clock, count, lifetimeMs } = this.#options
    const node = choose(this.#dropped.get(key) ?? null)
    count(node === null ? 'no_candidate' : 'claimed')
    if (node !== null) this.#remember(key, node, clock.nowMs() + lifetimeMs, this.#era)
    return node
  }

  async #ask(keys: SharedStore, key: string, choose: Choose): Promise<string | null> {
    const { count, lifetimeMs } = this.#options
    const [era, drops] = [this.#era, this.#drops]
    const keep = (node: string, untilMs: number) => {
      // After a drop, the store's reply may be outdated.
      this.#remember(key, node, untilMs, drops === this.#drops ? era : noEra)
      return node
    }
    const found = await this.#step(keys, key)
    if (found.node !== null) {
      count('adopted')
      return keep(found.node, found.untilMs)
    }
    // A choice that only the store lost becomes a new choice, newer than any dropped one.
    const own = this.#live(key)?.node ?? choose(this.#dropped.get(key) ?? null)
    if (own === null) {
      count('no_candidate')
      return null
    }
    const first = await this.#step(keys, key, Buffer.from(own), lifetimeMs)
    count(first.node === null ? 'claimed' : 'lost_race')
    return keep(first.node ?? own, first.untilMs)
  }

  /** Reads or claims a session. @returns the node of a winning other choice @throws StoreError */
  async #step(keys: SharedStore, key: string, own?: Buffer, lifetimeMs = 0) {
    const { clock } = this.#options
    for (;;) {
      const [known, startedMs] = [this.#generation, clock.nowMs()]
      const stored = await keys.session(prefix + key, known, own, lifetimeMs)
      const { generation, isOpen, value, ttlMs = lifetimeMs } = stored
      if (isOpen && known === this.#generation)
        return { node: value ? textOf(value) : null, untilMs: startedMs + ttlMs }
      if (this.#generation === '' && this.#choices.size === 0) {
        this.#generation = generation
        continue
      }
      if (generation !== this.#generation && !this.#joining) this.#join(keys)
      if (startedMs >= this.#patientUntilMs) throw new StoreError('recovering')
      await sleep(clock, retryMs)
    }
  }

  /** Restores all choices into the current generation, unless it has them. Retries until done. */
  #join(keys: SharedStore): void {
    this.#isStale = true
    this.#joining ??= this.#joinStore(keys)
  }

  async #joinStore(keys: SharedStore): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        const { generation } = await keys.session(prefix, '')
        if (generation === this.#generation) continue
        if (this.#generation !== '') this.#options.storeLost?.()
        this.#generation = ''
        await this.#restore(keys)
        if (!this.#isStale) this.#generation = generation
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        // Without announcements, the next connection joins.
        if (this.#era === noEra) continue
        this.#era = ++this.#eras
        this.#isStale = true
        await sleep(this.#options.clock, retryMs)
      }
    }
    this.#joining = null
  }

  async #restore(keys: SharedStore): Promise<void> {
    const restore = async ([key, choice]: [string, Choice]) => {
      const leftMs = Math.ceil(choice.untilMs - this.#options.clock.nowMs())
      if (leftMs < 1 || this.#choices.get(key) !== choice) return
      const stored = await keys.session(prefix + key, '', Buffer.from(choice.node), leftMs)
      const differs = stored.value && textOf(stored.value) !== choice.node
      if ((stored.isOpen || differs) && this.#era !== noEra) this.#era = ++this.#eras
    }
    const choices = [...this.#choices]
    for (let at = 0; at < choices.length; at += atOnce)
      await Promise.all(choices.slice(at, at + atOnce).map(restore))
  }

  #live(key: string): Choice | null {
    const choice = this.#choices.get(key)
    return choice && choice.untilMs > this.#options.clock.nowMs() ? choice : null
  }

  #remember(key: string, node: string, untilMs: number, era: number): void {
    this.#dropped.delete(key)
    this.#choices.delete(key)
    makeRoom(this.#choices, this.#maxSessions)
    this.#choices.set(key, { node, untilMs, era })
  }

  #dropHere(key: string, node: string): void {
    if (this.#choices.get(key)?.node === node) this.#choices.delete(key)
    this.#dropped.delete(key)
    makeRoom(this.#dropped, rememberedLimits.droppedSessions)
    this.#dropped.set(key, node)
  }
}

/** Deletes the oldest hundredth of a full map, since a map walks past its deleted entries. */
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
