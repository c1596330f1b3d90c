// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, sleep } from '../../clock/clock.ts'
import type { Held, SharedKeys, Subscriber } from '../shared-keys.ts'
import { StoreError } from '../store-error.ts'

/** Keys that replicas share, in this process and in virtual time. */
export class FakeKeys implements SharedKeys {
  readonly #clock: Clock
  readonly #entries = new Map<string, { readonly value: Buffer; readonly untilMs: number }>()
  readonly #counts = new Map<string, number>()
  readonly #watchers: { readonly prefix: string; readonly of: Subscriber<Held> }[] = []
  readonly #undelivered: { readonly of: Subscriber<Held>; readonly held: Held }[] = []
  /** Commands fail. */
  isDown = false
  /** What is announced reaches nobody. */
  isMute = false
  /** What is announced waits until it is delivered. */
  isSlow = false
  /** How often watchers were reached. */
  announced = 0
  /** Commands so far. */
  asked = 0
  /** How long a command takes that fails. */
  timeoutMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Breaks all connections, which loses what was not delivered, or makes them again. */
  connect(isUp: boolean): void {
    if (isUp !== this.isDown) return
    this.isDown = !isUp
    this.#undelivered.length = 0
    for (const { of } of this.#watchers) of.listening(isUp)
  }

  /** It loses what it had, as a Redis that restarts. */
  forget(): void {
    this.#entries.clear()
  }

  /** What is stored, by key. */
  get texts(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#entries].map(([key, { value }]) => [key, String(value)]))
  }

  async get(key: string, counter = ''): Promise<Held> {
    await this.#turn()
    const value = this.#live(key)
    const ttlMs = (this.#entries.get(key)?.untilMs ?? 0) - this.#clock.nowMs()
    return { value, ttlMs, count: this.#counts.get(counter) ?? 0 }
  }

  async set(key: string, value: Buffer, ttlMs: number): Promise<void> {
    await this.#turn()
    this.#entries.set(key, { value, untilMs: this.#clock.nowMs() + ttlMs })
  }

  async claim(key: string, value: Buffer, ttlMs: number): Promise<Uint8Array | undefined> {
    await this.#turn()
    const standing = this.#live(key)
    if (!standing) this.#entries.set(key, { value, untilMs: this.#clock.nowMs() + ttlMs })
    return standing
  }

  async delete(key: string, value?: Buffer): Promise<void> {
    await this.#turn()
    if (!value || this.#entries.get(key)?.value.equals(value)) this.#entries.delete(key)
    if (value) this.#announce({ key, value })
  }

  async increment(key: string): Promise<void> {
    await this.#turn()
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    this.#announce({ key })
  }

  watch(prefix: string, of: Subscriber<Held>): void {
    this.#watchers.push({ prefix, of })
    of.listening(true)
  }

  /** Brings what waits. */
  deliver(): void {
    for (const { of, held } of this.#undelivered.splice(0)) of.message(held)
  }

  close(): void {}

  #announce(held: Held): void {
    if (this.isMute) return
    this.announced += 1
    for (const { prefix, of } of this.#watchers)
      if (held.key?.startsWith(prefix)) this.#undelivered.push({ of, held })
    if (!this.isSlow) this.deliver()
  }

  #live(key: string): Buffer | undefined {
    const entry = this.#entries.get(key)
    return entry && entry.untilMs > this.#clock.nowMs() ? entry.value : undefined
  }

  async #turn(): Promise<void> {
    this.asked += 1
    await (this.timeoutMs > 0 && this.isDown ? sleep(this.#clock, this.timeoutMs) : null)
    if (this.isDown) throw new StoreError('unreachable')
  }
}
