// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../operator/kube/clock.ts'
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import { drawnFaults } from './faults.ts'
import { ChaosProxy } from './proxy.ts'
import { eventually } from '../../processes/eventually.ts'
import type { Access } from '../access.ts'

/** One run of a client of an API server, through faults drawn from a seed. */
export interface Schedule {
  readonly seed: number
  /** The API server without faults, and the credentials. */
  readonly access: Access
  /** The client under test: it reaches the server by `through`, and runs until the signal is aborted. */
  readonly start: (through: Access, signal: AbortSignal) => Promise<void>
  /** Makes one of `steps` random changes at the server, without faults. */
  readonly act: (random: Random, step: number) => Promise<void>
  readonly steps?: number
  /** Runs beside it after the faults, such as a second client to compare with. */
  readonly afterwards?: (signal: AbortSignal) => Promise<void>
  /** Throws or returns false until the state is that of an undisturbed run. */
  readonly settled: () => boolean | void | Promise<boolean | void>
  /** Limit of the time to reach that state after the faults. */
  readonly settleMs?: number
}

/**
 * Makes changes and faults, then ends the faults and waits for the state of an undisturbed run. The
 * seed draws changes, faults and pauses. Threads and sockets have their own timing, so a seed repeats
 * the plan exactly, but the run only nearly.
 * @throws Error that names the seed and the faults, if that state does not come in time
 */
export async function runSchedule(schedule: Schedule): Promise<void> {
  const { seed, access, start, act, steps = 20, afterwards, settled, settleMs = 20_000 } = schedule
  const random = seededRandom(seed)
  // Changes and faults have separate draws: the number of requests must not affect the changes.
  await using proxy = await ChaosProxy.start(access, drawnFaults(seededRandom(seed ^ 0x5eed)))
  const stop = new AbortController()
  let running: Promise<unknown> = start(proxy.access, stop.signal)
  // An error is thrown when it is awaited below; until then it must not count as unhandled.
  running.catch(() => {})
  try {
    for (let step = 0; step < steps; step++) {
      await act(random, step)
      await pause(random.next() * 60)
    }
    proxy.calm()
    running = Promise.all([running, afterwards?.(stop.signal)])
    const failed = running.then(() => {
      throw new Error('it ended by itself')
    })
    await Promise.race([eventually(settled, settleMs), failed])
  } catch (cause) {
    const faults = [...proxy.tally].map(([what, times]) => `${what} x${times}`).join(', ')
    throw new Error(`schedule ${seed}: ${(cause as Error).message}\nFaults: ${faults}`, { cause })
  } finally {
    stop.abort()
    await running.catch(() => {})
  }
}
