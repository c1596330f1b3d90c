// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { SocketUrl } from '../upstream/node-url.ts'

const restsMs = { least: 1_000, most: 60_000 }

interface Rest {
  untilMs: number
  failures: number
}

/** URLs that failed lately, and are left alone for a while: 1 s, doubling to a minute. */
export class Rests {
  readonly #clock: Clock
  readonly #rests = new Map<SocketUrl, Rest>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What fails while it rests anyway is the same trouble: one cut connection is one failure. */
  begin(url: SocketUrl): void {
    if (this.has(url)) return
    const nowMs = this.#clock.nowMs()
    const last = this.#rests.get(url)
    // Trouble of long ago says nothing of today.
    const isRecent = last !== undefined && nowMs - last.untilMs < restsMs.most
    const failures = isRecent ? last.failures + 1 : 1
    const ms = Math.min(restsMs.least * 2 ** (failures - 1), restsMs.most)
    this.#rests.set(url, { untilMs: nowMs + ms, failures })
  }

  has(url: SocketUrl): boolean {
    return (this.#rests.get(url)?.untilMs ?? 0) > this.#clock.nowMs()
  }

  /** Those that rest now. */
  get urls(): readonly SocketUrl[] {
    return [...this.#rests.keys()].filter((url) => this.has(url))
  }

  /** Those that failed and have not proven themselves since, rested or not. */
  get unproven(): readonly SocketUrl[] {
    return [...this.#rests.keys()]
  }

  /** How long until the first of them has rested; null when none rests. */
  get leastMs(): number | null {
    const nowMs = this.#clock.nowMs()
    const left = [...this.#rests.values()].map(({ untilMs }) => untilMs - nowMs)
    const resting = left.filter((ms) => ms > 0)
    return resting.length > 0 ? Math.min(...resting) : null
  }

  /** It does what it should. */
  forget(url: SocketUrl): void {
    this.#rests.delete(url)
  }
}
