// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../operator/kube/clock.ts'
import { seededRandom } from '../../../proxy/clock/testing/seeded-random.ts'
import { drawnFaults } from './faults.ts'
import { ChaosProxy } from './proxy.ts'
import { eventually } from '../../processes/eventually.ts'
import type { Access } from '../access.ts'

/** A run of an API client with faults from a seed. */
export interface Schedule {
  readonly seed: number
  /** Access to the API server without faults. */
  readonly access: Access
  /** Runs the client under test with the access `through` until the signal is aborted. */
  readonly start: (through: Access, signal: AbortSignal) => Promise<void>
  /** Makes one of `steps` random changes on the server, without faults. */
  readonly act: (random: Random, step: number) => Promise<void>
  readonly steps?: number
  /** Runs concurrently after the faults, such as a reference client. */
  readonly afterwards?: (signal: AbortSignal) => Promise<void>
  /** Throws or returns false until the state equals that of an undisturbed run. */
  readonly settled: () => boolean | void | Promise<boolean | void>
  /** Time limit for reaching that state after the faults. */
  readonly settleMs?: number
}

/**
 * Makes changes and faults, then ends the faults and waits for the state of an undisturbed run. The
 * seed determines changes, faults and pauses, but not the timing of threads and sockets.
 * @throws Error with the seed and the faults if the run does not reach that state in time
 */
export async function runSchedule(schedule: Schedule): Promise<void> {
  const { seed, access, start, act, steps = 20, afterwards, settled, settleMs = 20_000 } = schedule
  const random = seededRandom(seed)
  // Changes and faults draw separately, so that the number of requests does not affect the changes.
  await using proxy = await ChaosProxy.start(access, drawnFaults(seededRandom(seed ^ 0x5eed)))
  const stop = new AbortController()
  let running: Promise<unknown> = start(proxy.access, stop.signal)
  // The await below throws any error. Until then it must not count as unhandled.
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
