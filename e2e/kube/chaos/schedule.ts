// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../operator/kube/clock.ts'
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import { drawnFaults } from './faults.ts'
import { ChaosProxy } from './proxy.ts'
import { eventually } from '../eventually.ts'
import type { Access } from '../access.ts'

/** One run of something that lives with an API server, through faults that a seed draws. */
export interface Schedule {
  readonly seed: number
  /** The API server, undisturbed, and as whom it is asked. */
  readonly access: Access
  /** What is disturbed: it reaches the server through `through`, and runs until the signal is aborted. */
  readonly start: (through: Access, signal: AbortSignal) => Promise<void>
  /** What the world does meanwhile, past the faults: one of `steps` changes, as the lot decides. */
  readonly act: (random: Random, step: number) => Promise<void>
  readonly steps?: number
  /** What runs beside it from the end of the faults on, such as another to compare with. */
  readonly afterwards?: (signal: AbortSignal) => Promise<void>
  /** Throws or gives false as long as the state is not the one that an undisturbed run reaches. */
  readonly settled: () => boolean | void | Promise<boolean | void>
  /** How long it may take to get there once the faults are over. */
  readonly settleMs?: number
}

/** What a schedule did, for a report. */
export interface ScheduleResult {
  readonly faults: ReadonlyMap<string, number>
  /** From the end of the faults until all was well. */
  readonly settledMs: number
}

/**
 * Lets the world change and the way to the API server break, then ends the faults and waits until all
 * is as it would have been. The seed draws changes, faults and pauses; threads and sockets have their
 * own mind, so a seed repeats the plan, and the run nearly.
 * @throws Error that names the seed and the faults, when it does not come right in time
 */
export async function runSchedule(schedule: Schedule): Promise<ScheduleResult> {
  const { seed, access, start, act, steps = 20, afterwards, settled, settleMs = 20_000 } = schedule
  const random = seededRandom(seed)
  // Changes and faults draw apart: how often a request is made must not change what the world does.
  await using proxy = await ChaosProxy.start(access, drawnFaults(seededRandom(seed ^ 0x5eed)))
  const stop = new AbortController()
  let running: Promise<unknown> = start(proxy.access, stop.signal)
  // Told when it is awaited below; until then it must not count as unhandled.
  running.catch(() => {})
  try {
    for (let step = 0; step < steps; step++) {
      await act(random, step)
      await pause(random.next() * 60)
    }
    proxy.calm()
    const calmedMs = performance.now()
    running = Promise.all([running, afterwards?.(stop.signal)])
    const failed = running.then(() => {
      throw new Error('it ended by itself')
    })
    await Promise.race([eventually(settled, settleMs), failed])
    return { faults: proxy.tally, settledMs: performance.now() - calmedMs }
  } catch (cause) {
    const faults = [...proxy.tally].map(([what, times]) => `${what} x${times}`).join(', ')
    throw new Error(`schedule ${seed}: ${(cause as Error).message}\nFaults: ${faults}`, { cause })
  } finally {
    stop.abort()
    await running.catch(() => {})
  }
}
