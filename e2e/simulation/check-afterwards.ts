// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Arena, ClientCall } from './arena.ts'
import { checkAborted, slowestMs } from './check-ending.ts'

/** Recovery time of an upstream without faults: the watch's longest wait, and a probe. */
export const recoveryMs = 45_000
/** Timeout of a probe. */
const probeMs = 5_000

/** Checks each call after the schedule, when everything had time to end. */
export function checkCalls(arena: Arena): void {
  for (const client of arena.calls.values()) {
    if (client.endedMs === null)
      arena.report('ends-once', `${client.id} ${client.call.method.name} never ended`)
    checkAborted(arena, client)
    checkJournal(arena, client)
  }
}

/** Checks the stopped engine. `open` is the number of requests in flight. */
export function checkRemains(arena: Arena, open: number): void {
  const { clock, pool } = arena
  if (clock.pending > 0) arena.report('leaves-nothing', `${clock.pending} timers are left`)
  if (open > 0) arena.report('leaves-nothing', `${open} requests are left`)
  for (const { name, usedSlots } of pool.upstreams)
    if (usedSlots !== 0) arena.report('leaves-nothing', `${name} has ${usedSlots} sessions left`)
}

/** The journal matches the wire, and honest answers count as answers. */
function checkJournal(arena: Arena, client: ClientCall): void {
  const { id, call, exchanges } = client
  const { attempts } = call.journal
  if (attempts.length !== exchanges.length)
    return arena.report(
      'journal-is-true',
      `${id} has ${attempts.length} attempts in its journal, ${exchanges.length} were made`,
    )
  for (const [index, exchange] of exchanges.entries()) {
    const { upstream, startedMs, endedMs, result } = attempts[index]!
    const { target, fate, isError, isAborted } = exchange
    // Times of the virtual clock are inexact sums of fractions.
    const isSameTime = Math.abs(startedMs - exchange.sentMs) < 1e-6
    if (upstream !== target.upstream || !isSameTime || endedMs === null)
      arena.report('journal-is-true', `attempt ${index + 1} of ${id} is recorded wrongly`)
    else if (fate.kind === 'honest' && !isAborted && !isError && result !== 'answer') {
      const what = typeof result === 'object' && result ? result.name : String(result)
      arena.report('honest-accepted', `${id} took the honest answer of ${upstream} for ${what}`)
    }
  }
}

/** Checks that upstreams serve again after `recoveryMs` without any fault. */
export function checkRecovery(arena: Arena): void {
  const nowMs = arena.clock.nowMs()
  for (const { name, availability } of arena.pool.upstreams) {
    const seats = [...arena.seats.values()].filter(({ upstream }) => upstream.name === name)
    const isHealthy = seats.every(
      ({ plan, cooldownUntilMs }) =>
        !plan.isForeign &&
        slowestMs(plan) < (plan.timeoutMs ?? probeMs) &&
        cooldownUntilMs <= nowMs - recoveryMs &&
        plan.faults.every(({ untilMs }) => untilMs <= nowMs - recoveryMs),
    )
    if (isHealthy && availability.standing !== 'eligible')
      arena.report(
        'comes-back',
        `${name} is ${availability.standing}, ${recoveryMs} ms after its last fault`,
      )
  }
}
