// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, sleep } from '../../clock/clock.ts'
import {
  generationKey,
  graceMs,
  type StoredClaim,
  type SessionReply,
  type SharedStore,
} from '../shared-store.ts'
import { StoreError } from '../store-error.ts'
import { type Subscriber } from '../store-options.ts'

type Entries = Map<string, { readonly value: Buffer; readonly untilMs: number }>

/** Data of a store that opened long ago. */
class FakeStore {
  entries: Entries = new Map()
  readonly counts = new Map<string, number>()
  readonly connections: FakeKeys[] = []
  generation = 'generation 0'
  generations = 0
  closedUntilMs = 0
}

/** One connection to a store of shared keys, in this process and in virtual time. */
export class FakeKeys implements SharedStore {
  readonly #clock: Clock
  readonly #store: FakeStore
  readonly #watchers: { readonly prefix: string; readonly of: Subscriber<StoredClaim> }[] = []
  readonly #undelivered: { readonly of: Subscriber<StoredClaim>; readonly entry: StoredClaim }[] =
    []
  /** How often the connection broke. */
  #breaks = 0
  /** Whether commands fail. */
  isDown = false
  /** Whether announcements are lost. */
  isMute = false
  /** Whether announcements wait until delivered. */
  isSlow = false
  /** Number of messages delivered to watchers. */
  announced = 0
  /** Number of commands so far. */
  requests = 0
  /** How long a failing command takes. */
  timeoutMs = 0
  /** Latency of a command, and of its reply. */
  delayMs: (() => number) | null = null

  constructor(clock: Clock, store = new FakeStore()) {
    this.#clock = clock
    this.#store = store
    store.connections.push(this)
  }

  /** Another connection to the same store. */
  another(): FakeKeys {
    return new FakeKeys(this.#clock, this.#store)
  }

  /** Breaks the connection, which loses undelivered messages, or restores it. */
  connect(isUp: boolean): void {
    if (isUp !== this.isDown) return
    this.isDown = !isUp
    if (this.isDown) this.#breaks += 1
    this.#undelivered.length = 0
    for (const { of } of this.#watchers) of.listening(isUp)
  }

  /** Loses all data, as a flushed or restarted Redis does, or restores an older copy. */
  forget(copy: Entries = new Map()): void {
    this.#store.entries = new Map(copy)
    this.#store.generation = ''
  }

  /** A copy of the data. */
  get copy(): Entries {
    return new Map(this.#store.entries)
  }

  /** Stored texts, by key. */
  get texts(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.copy].map(([key, { value }]) => [key, String(value)]))
  }

  get(key: string, counter = ''): Promise<StoredClaim> {
    return this.#run(() => ({
      value: this.#live(key)?.value,
      ttlMs: this.#leftMs(key),
      count: this.#store.counts.get(counter) ?? 0,
    }))
  }

  set(key: string, value: Buffer, ttlMs: number): Promise<void> {
    return this.#run(() => this.#set(key, value, ttlMs))
  }

  claim(key: string, value: Buffer, ttlMs: number): Promise<Uint8Array | undefined> {
    return this.#run(() => {
      const standing = this.#live(key)?.value
      if (!standing) this.#set(key, value, ttlMs)
      return standing
    })
  }

  session(key: string, known: string, value?: Buffer, ttlMs = 0): Promise<SessionReply> {
    return this.#run(() => {
      const store = this.#store
      const nowMs = this.#clock.nowMs()
      if (store.generation === '') {
        store.generation = `generation ${++store.generations}`
        store.closedUntilMs = nowMs + graceMs
        this.#announce({ key: generationKey })
      }
      const [generation, isOpen] = [store.generation, nowMs >= store.closedUntilMs]
      const restores = known === '' && value
      if (restores && !isOpen) store.closedUntilMs = nowMs + graceMs
      if (!restores && !(isOpen && known === generation)) return { generation, isOpen: false }
      const standing = this.#live(key)?.value
      const leftMs = this.#leftMs(key)
      if (!value || (standing && !(restores && !isOpen && leftMs < ttlMs)))
        return { generation, isOpen, ...(standing && { value: standing, ttlMs: leftMs }) }
      this.#set(key, value, ttlMs)
      return { generation, isOpen }
    })
  }

  delete(key: string, value?: Buffer): Promise<void> {
    return this.#run(() => {
      const { entries } = this.#store
      if (!value || entries.get(key)?.value.equals(value)) entries.delete(key)
      if (value) this.#announce({ key, value })
    })
  }

  increment(key: string): Promise<void> {
    return this.#run(() => {
      const { counts } = this.#store
      counts.set(key, (counts.get(key) ?? 0) + 1)
      this.#announce({ key })
    })
  }

  watch(prefix: string, of: Subscriber<StoredClaim>): void {
    this.#watchers.push({ prefix, of })
    of.listening(true)
  }

  /** Delivers waiting announcements. */
  deliver(): void {
    for (const { of, entry } of this.#undelivered.splice(0)) of.message(entry)
  }

  close(): void {}

  #announce(entry: StoredClaim): void {
    if (this.isMute) return
    this.announced += 1
    for (const connection of this.#store.connections) connection.#receive(entry)
  }

  #receive(entry: StoredClaim): void {
    if (this.isDown) return
    for (const { prefix, of } of this.#watchers)
      if (entry.key?.startsWith(prefix)) this.#undelivered.push({ of, entry })
    if (!this.isSlow) this.deliver()
  }

  #set(key: string, value: Buffer, ttlMs: number): void {
    this.#store.entries.set(key, { value, untilMs: this.#clock.nowMs() + ttlMs })
  }

  #leftMs(key: string): number {
    return (this.#store.entries.get(key)?.untilMs ?? 0) - this.#clock.nowMs()
  }

  #live(key: string) {
    return this.#leftMs(key) > 0 ? this.#store.entries.get(key) : undefined
  }

  async #run<T>(command: () => T): Promise<T> {
    this.requests += 1
    const breaks = this.#breaks
    const way = async () => this.delayMs && (await sleep(this.#clock, this.delayMs()))
    await way()
    await (this.timeoutMs > 0 && this.isDown ? sleep(this.#clock, this.timeoutMs) : null)
    if (this.isDown || breaks !== this.#breaks) throw new StoreError('unreachable')
    const result = command()
    await way()
    if (breaks !== this.#breaks) throw new StoreError('unreachable')
    return result
  }
}
