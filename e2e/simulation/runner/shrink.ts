// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'
import type { Part, Ran, Simulation } from './types.ts'

/** How many shorter schedules are tried at most. */
const mostTries = 400

/**
 * Leaves out of a schedule that breaks `rule` whatever can be left out while it still breaks it.
 * `result`: what came of what is left.
 */
export async function shrink<Schedule, Rule extends string, Tally>(
  { run, parts }: Simulation<Schedule, Rule, Tally>,
  schedule: Schedule,
  rule: Rule | 'same-trace',
  spec: Spec,
): Promise<{ readonly schedule: Schedule; readonly result: Ran<Rule, Tally> }> {
  let tries = 0
  let shortest = { schedule, result: await run(schedule, spec) }
  const accept = async (candidate: Schedule): Promise<boolean> => {
    if (tries++ >= mostTries) return false
    const result = await run(candidate, spec)
    if (!result.violations.some((each) => each.rule === rule)) return false
    shortest = { schedule: candidate, result }
    return true
  }
  const size = () => sizeOf(shortest.schedule, parts)
  for (let before = Infinity; size() < before && tries < mostTries;) {
    before = size()
    for (const part of parts) await without(part, () => shortest.schedule, accept)
  }
  return shortest
}

/** Takes chunks out of each list of a part, halves first, then smaller ones. */
async function without<Schedule>(
  part: Part<Schedule>,
  current: () => Schedule,
  accept: (candidate: Schedule) => Promise<boolean>,
): Promise<void> {
  for (let at = 0; at < part(current()).length; at++) {
    const place = () => part(current())[at]
    const length = () => place()?.length ?? 0
    for (let size = Math.ceil(length() / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
      for (let from = 0; from < length();) {
        const shorter = place()?.without(from, size) ?? null
        if (shorter === null || !(await accept(shorter))) from += size
      }
  }
}

function sizeOf<Schedule>(schedule: Schedule, parts: readonly Part<Schedule>[]): number {
  const places = parts.flatMap((part) => part(schedule))
  return places.reduce((sum, { length }) => sum + length, 0)
}
