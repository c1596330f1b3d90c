// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Arena, ClientCall, Seat } from './arena.ts'

/**
 * An upstream is able to answer a call when, from the call's beginning to its end, one of its URLs
 * - was verified, declares what the call needs, and was not held off,
 * - had nothing that ailed it, however slight, and is on the right chain,
 * - had the block that the call is about,
 * and the upstream was neither full nor excluded by the client, and either was not asked by the call
 * or gave it an honest result from that URL. One that was asked and took too long was not able.
 */
export function ableFor(arena: Arena, client: ClientCall): string | null {
  for (const seat of arena.seats.values()) {
    const { name } = seat.upstream
    if (client.plan.blockProviders.includes(name)) continue
    if (arena.schedule.settings.maxSessions < 1_000) continue
    if (!wasFit(arena, seat, client)) continue
    const asked = client.exchanges.filter(({ place }) => place.upstream === name)
    // Its other URL may have said that it has not got the block.
    const answered = asked.some(
      ({ place, fate, isTakenBack, saysError }) =>
        place.printable === seat.url.printable &&
        fate.kind === 'honest' &&
        !isTakenBack &&
        !saysError,
    )
    if (asked.length === 0 || answered) return name
  }
  return null
}

function wasFit({ clock, chain }: Arena, seat: Seat, client: ClientCall): boolean {
  const { plan, url } = seat
  const { startedMs, call, question } = client
  const nowMs = clock.nowMs()
  return (
    client.verified.has(url.printable) &&
    url.verified === true &&
    seat.cooldownUntilMs <= startedMs &&
    !plan.isForeign &&
    (call.asked.addon === null || plan.addons.includes(call.asked.addon)) &&
    plan.ailments.every(({ fromMs, untilMs }) => untilMs <= startedMs || nowMs < fromMs) &&
    (question.neededBlock === null || chain.head - plan.lagBlocks >= question.neededBlock)
  )
}

/** Whether the operator's limits left the call another attempt at the moment when it ended. */
export function budgetLeft({ schedule, clock }: Arena, client: ClientCall): boolean {
  const { retryLimit, maxAttempts } = schedule.settings.relay
  if (retryLimit === 0 || client.exchanges.length >= maxAttempts) return false
  if (clock.nowMs() >= client.deadlineMs) return false
  return triesOf(client, 'some') <= retryLimit
}

/**
 * Tries that are over or under way, apart from the one that was just begun: a first attempt or a
 * retry with all that ran beside it. `some`: those in which some request reached its upstream;
 * `every`: those in which every one did.
 */
export function triesOf(client: ClientCall, reached: 'some' | 'every'): number {
  const tries: boolean[][] = []
  for (const [index, { kind }] of client.call.journal.attempts.entries()) {
    const exchange = client.exchanges[index]
    if (!exchange || (reached === 'every' && exchange.endedMs === null)) continue
    if (kind === 'first' || kind === 'retry') tries.push([])
    const { fate } = exchange
    const isUnsent = fate.kind === 'ill' && (fate.illness === 'refuse' || fate.illness === 'crash')
    tries.at(-1)?.push(!isUnsent)
  }
  return tries.filter((all) => all[reached](Boolean)).length
}
