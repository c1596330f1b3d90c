// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'

export interface Violation<Rule extends string> {
  readonly rule: Rule
  readonly what: string
  /** In virtual time, where it is known. */
  readonly atMs?: number
}

/** What came of a schedule. */
export interface Ran<Rule extends string, Tally> {
  readonly violations: readonly Violation<Rule>[]
  /** One line an event, in the order of time: the same for the same schedule. Few are ever read. */
  readonly trace: () => readonly string[]
  readonly tally: Tally
}

/** Schedules that are drawn from seeds, and what runs them and judges what comes of them. */
export interface Simulation<Schedule, Rule extends string, Tally> {
  draw(seed: number): Schedule
  run(schedule: Schedule, spec: Spec): Promise<Ran<Rule, Tally>>
  emptyTally(): Tally
  addTally(sum: Tally, more: Tally): void
  /** What may be left out of a schedule, what makes it shortest first. */
  readonly parts: readonly Part<Schedule>[]
}

/** The places in a schedule of one kind. */
export type Part<Schedule> = (schedule: Schedule) => readonly Place<Schedule>[]

/** A list in a schedule. */
export interface Place<Schedule> {
  readonly length: number
  /** The schedule without `count` of its items, from one on; null where it cannot be. */
  without(from: number, count: number): Schedule | null
}

/** @param put the schedule with another list in the place of this one; null where it cannot be */
export function placeOf<Schedule, Item>(
  list: readonly Item[],
  put: (shorter: readonly Item[]) => Schedule | null,
): Place<Schedule> {
  return {
    length: list.length,
    without: (from, count) => put(list.toSpliced(from, count)),
  }
}
