// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../../../proxy/clock/clock.ts'
import type { Spec } from '../engine.ts'

/** Draws schedules from seeds, runs them and checks the result. */
export interface Simulation<Schedule> {
  draw(seed: number): Schedule
  run(schedule: Schedule, spec: Spec): Promise<Run>
}

/** Counts by name. */
export type Counts = Record<string, number>

export interface Violation {
  readonly rule: string
  readonly what: string
}

/** The trace, the counts and the violations of one run. */
export class Run {
  readonly violations: Violation[] = []
  readonly counts: Counts = {}
  readonly #clock: Clock
  readonly #events: { readonly atMs: number; readonly what: string }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  log(what: string): void {
    this.#events.push({ atMs: this.#clock.nowMs(), what })
  }

  report(rule: string, what: string): void {
    this.violations.push({ rule, what })
    this.log(`VIOLATION of ${rule}: ${what}`)
  }

  count(name: string, times = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + times
  }

  /** One line per event, in order. Lines are formatted late, because few runs are ever read. */
  trace(): readonly string[] {
    return this.#events.map(({ atMs, what }) => `${atMs.toFixed(3).padStart(11)}  ${what}`)
  }
}
