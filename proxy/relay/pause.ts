// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, type Clock } from '../clock/clock.ts'
import type { Call } from './call.ts'
import { CallAborted } from './errors.ts'

const firstPauseMs = 50
const longestPauseMs = 400

/**
 * Waits before upstreams are asked a further time for the same call, so that attempts begin 50 ms
 * apart, then 100, 200 and 400. One that is being restarted refuses connections, which costs no time:
 * without a pause all attempts of a call would be over before it is back. Never longer than the call
 * has.
 * @throws CallAborted when nobody waits for the call any more
 */
export async function pauseBeforeRepeat(
  { journal: { attempts, deadlineMs }, signal }: Call,
  clock: Clock,
): Promise<void> {
  const times = new Map<string, number>()
  for (const { upstream, kind } of attempts)
    // Its other URLs were asked in the same turn.
    if (kind !== 'failover') times.set(upstream, (times.get(upstream) ?? 0) + 1)
  const apartMs = Math.min(firstPauseMs * 2 ** (Math.max(...times.values()) - 1), longestPauseMs)
  const untilMs = Math.min((attempts.at(-1)?.startedMs ?? 0) + apartMs, deadlineMs)
  const pauseMs = untilMs - clock.nowMs()
  if (pauseMs <= 0) return
  try {
    await sleep(clock, pauseMs, signal)
  } catch (error) {
    if (signal.aborted) throw new CallAborted()
    throw error
  }
}
