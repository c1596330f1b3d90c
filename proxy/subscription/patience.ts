// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { SubscriptionObserver } from './observer.ts'
import type { Outage } from './outage.ts'

export interface PatienceOptions {
  /** Of the topic or sequence, for the log and the metrics. */
  readonly name: string
  readonly clock: Clock
  readonly observer: SubscriptionObserver
  /** No news for so long is a stall. */
  readonly stallMs: number
  readonly outage: Pick<Outage, 'isOn' | 'overMs'>
}

const leastMs = 60_000
const stalls = 10

/**
 * How long is waited for what has to be told next and cannot be fetched, while the chain is heard
 * of: ten times as long as a stall, and a minute at least. An outage does not count: nobody misses
 * anything that could be told.
 */
export class Patience {
  readonly #options: PatienceOptions
  #sinceMs: number | null = null

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  /** It could not be fetched, and will be asked for again. */
  failed(error: Error): void {
    const { name, clock, observer } = this.#options
    const nowMs = clock.nowMs()
    this.#sinceMs ??= nowMs
    observer.fetchFailed(name, nowMs - this.#sinceMs, error.message)
  }

  /** It is there, or nobody wants it any more. */
  renew(): void {
    this.#sinceMs = null
  }

  get isOver(): boolean {
    const { clock, stallMs, outage } = this.#options
    if (this.#sinceMs === null || outage.isOn) return false
    const fromMs = Math.max(this.#sinceMs, outage.overMs)
    return clock.nowMs() - fromMs >= Math.max(leastMs, stalls * stallMs)
  }
}
