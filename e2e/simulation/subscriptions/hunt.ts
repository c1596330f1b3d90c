// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadSpec } from '../engine.ts'
import { drawSubscriptionSchedule } from './draw-schedule.ts'
import { simulateSubscriptions } from './simulation.ts'

/*
 * Runs seeds until one of them breaks something, and says which and what: `17 no-hole`. Says nothing
 * when none does. Run in a copy of the tree that holds a mutant.
 */
Error.stackTraceLimit = 0
const most = Number(process.argv[2])
const spec = await loadSpec()
for (let seed = 1; seed <= most; seed++) {
  const { violations } = await simulateSubscriptions(drawSubscriptionSchedule(seed), spec)
  const [first] = violations
  if (!first) continue
  process.stdout.write(`${seed} ${first.rule}\n`)
  break
}
