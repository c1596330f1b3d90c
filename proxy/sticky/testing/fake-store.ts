// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../clock/clock.ts'
import { StoreError } from '../../redis/store-error.ts'
import { type Claim, type ClaimListener, type ClaimStore, Sessions } from '../sessions.ts'

/** A store in this process that several replicas share. Each answer takes a turn. */
export class FakeStore implements ClaimStore {
  readonly #clock: Clock
  readonly #claims = new Map<string, { readonly node: string; readonly untilMs: number }>()
  readonly #listeners: ClaimListener[] = []
  readonly #undelivered: (readonly [ClaimListener, string, string])[] = []
  #isDown = false
  /** Questions so far. */
  asked = 0
  /** Messages wait until they are delivered. */
  isSlow = false
  /** Runs before the next claim, as another replica would. */
  beforeClaim: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  set isDown(isDown: boolean) {
    if (isDown === this.#isDown) return
    this.#isDown = isDown
    // Of a connection that breaks the messages are lost.
    this.#undelivered.length = 0
    for (const listener of this.#listeners) listener.listening(!isDown)
  }

  /** It loses what it had, as a Redis that restarts. */
  forget(): void {
    this.#claims.clear()
  }

  /** What is stored, by key. */
  get nodes(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#claims].map(([key, { node }]) => [key, node]))
  }

  async find(key: string): Promise<Claim | null> {
    await this.#turn()
    const claim = this.#claims.get(key)
    const leftMs = (claim?.untilMs ?? 0) - this.#clock.nowMs()
    return claim && leftMs > 0 ? { node: claim.node, leftMs } : null
  }

  async claim(key: string, node: string, ttlMs: number): Promise<string | null> {
    await this.#turn()
    this.beforeClaim?.()
    const claim = this.#claims.get(key)
    if (claim && claim.untilMs > this.#clock.nowMs()) return claim.node
    this.store(key, node, ttlMs)
    return null
  }

  store(key: string, node: string, ttlMs: number): void {
    this.#claims.set(key, { node, untilMs: this.#clock.nowMs() + ttlMs })
  }

  async drop(key: string, node: string): Promise<void> {
    await this.#turn()
    if (this.#claims.get(key)?.node === node) this.#claims.delete(key)
    for (const listener of this.#listeners) this.#undelivered.push([listener, key, node])
    if (!this.isSlow) this.deliver()
  }

  /** Brings the messages that wait. */
  deliver(): void {
    for (const [listener, key, node] of this.#undelivered.splice(0)) listener.dropped(key, node)
  }

  listen(listener: ClaimListener): void {
    this.#listeners.push(listener)
    listener.listening(!this.#isDown)
  }

  async #turn(): Promise<void> {
    this.asked += 1
    await Promise.resolve()
    if (this.#isDown) throw new StoreError('unreachable')
  }
}

/** Sessions that are shared with nobody, for what has to have some. */
export function privateSessions(clock: Clock): Sessions {
  return new Sessions({ clock, store: null, lifetimeMs: 1_800_000, count: () => {} })
}
