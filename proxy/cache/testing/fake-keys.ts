// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Clock, sleep } from '../../clock/clock.ts'
import type { Held, SharedKeys, Subscriber } from '../../redis/shared-keys.ts'
import { StoreError } from '../../redis/store-error.ts'

/** Keys that replicas share, in this process and in virtual time. */
export class FakeKeys implements SharedKeys {
  readonly #clock: Clock
  readonly #entries = new Map<string, { readonly value: Buffer; readonly untilMs: number }>()
  readonly #counts = new Map<string, number>()
  readonly #watchers: { readonly prefix: string; readonly of: Subscriber<Held> }[] = []
  isDown = false
  /** What is announced reaches nobody. */
  isMute = false
  /** How often watchers were reached. */
  announced = 0
  /** How long a command takes that fails. */
  timeoutMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(key: string, counter = ''): Promise<Held> {
    await this.#turn()
    return { value: this.#live(key), count: this.#counts.get(counter) ?? 0 }
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

  async delete(key: string): Promise<void> {
    await this.#turn()
    this.#entries.delete(key)
  }

  async increment(key: string): Promise<void> {
    await this.#turn()
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    if (this.isMute) return
    this.announced += 1
    for (const { prefix, of } of this.#watchers) if (key.startsWith(prefix)) of.message({ key })
  }

  watch(prefix: string, of: Subscriber<Held>): void {
    this.#watchers.push({ prefix, of })
    of.listening(true)
  }

  close(): void {}

  #live(key: string): Buffer | undefined {
    const entry = this.#entries.get(key)
    return entry && entry.untilMs > this.#clock.nowMs() ? entry.value : undefined
  }

  async #turn(): Promise<void> {
    if (this.isDown) await sleep(this.#clock, this.timeoutMs)
    if (this.isDown) throw new StoreError('unreachable')
  }
}
