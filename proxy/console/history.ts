// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Facts } from './facts.ts'
import type { Look } from './differences.ts'

/** Rates are of so much time: short enough to follow an outage, long enough for a quiet chain. */
const windowMs = 30_000

/** The last facts of one replica, as far back as rates are taken from. */
export class History {
  readonly #at: string
  #past: Facts[] = []
  #problem: string | null = null

  /** @param at its address, as the reader has it */
  constructor(at: string) {
    this.#at = at
  }

  answered(facts: Facts): void {
    const fromMs = Date.parse(facts.at) - windowMs
    // The last one from before the time is where it begins.
    const first = this.#past.findLastIndex(({ at }) => Date.parse(at) <= fromMs)
    this.#past = [...this.#past.slice(Math.max(first, 0)), facts]
    this.#problem = null
  }

  failed(why: string): void {
    this.#problem = why
  }

  get look(): Look {
    const [first = null] = this.#past
    const now = this.#past.at(-1) ?? null
    if (this.#problem !== null || first === null || now === null)
      return { at: this.#at, before: null, now: null, problem: this.#problem }
    // What a process has counted since long before the first look says nothing of the present.
    const isYoung = Date.parse(first.at) - Date.parse(first.started) <= windowMs
    return { at: this.#at, before: first === now && isYoung ? null : first, now, problem: null }
  }
}
