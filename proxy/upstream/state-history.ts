// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { UpstreamState } from './observer.ts'

/** A state that returns this soon never ended: disabled upstreams are retried at each epoch. */
const relapseMs = 60_000

interface Period {
  readonly state: UpstreamState
  /** On the wall clock. */
  readonly sinceMs: number
}

/** When an upstream entered its state. */
export class StateHistory {
  readonly #clock: Clock
  #before: Period | null = null
  #now: Period
  /** When the upstream stops being held off, on the clock's monotonic scale. */
  #releaseMs = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
    this.#now = { state: 'unverified', sinceMs: clock.wallMs() }
  }

  /**
   * No event marks the end of a cooldown, so the next update enters the state that followed it, with its true time.
   * @param heldOffMs for how long the upstream is still held off; infinite in other states
   * @param released the state of the upstream when it is no longer held off
   */
  update(state: UpstreamState, heldOffMs: number, released: UpstreamState): Period {
    const [nowMs, wallMs] = [this.#clock.nowMs(), this.#clock.wallMs()]
    if (this.#releaseMs <= nowMs) this.#enter(released, wallMs - (nowMs - this.#releaseMs))
    this.#releaseMs = nowMs + heldOffMs
    return this.#enter(state, wallMs)
  }

  #enter(state: UpstreamState, sinceMs: number): Period {
    const [before, now] = [this.#before, this.#now]
    if (state === now.state) return now
    const isRelapse =
      state !== 'eligible' && before?.state === state && sinceMs - now.sinceMs < relapseMs
    this.#before = now
    return (this.#now = isRelapse ? before : { state, sinceMs })
  }
}
