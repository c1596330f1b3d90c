// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { StateRecord, UpstreamState } from './observer.ts'

/** A state that returns this soon counts as uninterrupted: epochs retry disabled upstreams. */
const relapseMs = 60_000

/** When an upstream entered its state. */
export class StateHistory {
  readonly #clock: Clock
  #before: { readonly state: UpstreamState; readonly sinceMs: number } | null = null
  #now
  /** End of `cooldown`, on the clock's monotonic scale. */
  #releaseMs = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
    this.#now = { state: 'unverified' as UpstreamState, sinceMs: clock.wallMs() }
  }

  /**
   * Updates the state. No event marks the end of a cooldown, so the next update first enters the
   * state that followed it, with its actual time.
   * @param leftMs time after which the state ends at the latest
   * @param released state after the cooldown
   */
  update(state: UpstreamState, leftMs: number, released: UpstreamState): Omit<StateRecord, 'why'> {
    const [nowMs, wallMs] = [this.#clock.nowMs(), this.#clock.wallMs()]
    if (this.#releaseMs <= nowMs) this.#enter(released, wallMs - (nowMs - this.#releaseMs))
    this.#releaseMs = state === 'cooldown' ? nowMs + leftMs : Infinity
    this.#enter(state, wallMs)
    const until = leftMs === Infinity ? null : new Date(wallMs + leftMs).toISOString()
    return { state, since: new Date(this.#now.sinceMs).toISOString(), until }
  }

  #enter(state: UpstreamState, sinceMs: number): void {
    const [before, now] = [this.#before, this.#now]
    if (state === now.state) return
    const isRelapse =
      state !== 'eligible' && before?.state === state && sinceMs - now.sinceMs < relapseMs
    this.#before = now
    this.#now = isRelapse ? before : { state, sinceMs }
  }
}
