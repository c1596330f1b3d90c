// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadSpec } from '../engine.ts'
import { runSeeds } from './run-seeds.ts'
import type { Simulation } from './types.ts'

/**
 * Runs seeds until one of them breaks something, and says which and what: `17 no-lie`. Says nothing
 * when none does. How many at most is the first argument of the program. Run in a copy of the tree
 * that holds a mutant.
 */
export async function hunt<Schedule, Rule extends string, Tally>(
  simulation: Simulation<Schedule, Rule, Tally>,
): Promise<void> {
  Error.stackTraceLimit = 0
  const most = Number(process.argv[2])
  const spec = await loadSpec()
  for (let seed = 1; seed <= most; seed++) {
    const { failures } = await runSeeds(simulation, [seed], spec)
    const rule = failures[0]?.violations[0]?.rule
    if (!rule) continue
    process.stdout.write(`${seed} ${rule}\n`)
    break
  }
}
