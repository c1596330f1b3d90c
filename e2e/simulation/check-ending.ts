// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint } from '../../proxy/chain/finality.ts'
import { errorKinds } from '../../proxy/relay/errors.ts'
import type { Arena, ClientCall, Exchange, Seat } from './arena.ts'
import { exchangeOf, lacksHistory, upstreamNamed } from './arena.ts'
import { blockAsked, floorWaitMs, maxWakeMs } from './floor-watch.ts'
import { keptBlocks, type UrlPlan } from './schedule.ts'
import { coveredAt } from './wrong-answers.ts'

/** It practically always answers within this time. */
export function slowestMs({ latency }: UrlPlan): number {
  const { medianMs, spread, tailShare, tailFactor } = latency
  return medianMs * Math.exp(4 * spread) * (tailShare > 0 ? tailFactor : 1)
}

/** Sums of fractions of milliseconds are not exact. */
const toleranceMs = 1e-6

/** Rules at the end of a call for its client. */
export function checkEnding(arena: Arena, client: ClientCall): void {
  const { clock } = arena
  const { call, id, outcome, deadlineMs, leftMs, exchanges } = client
  const where = `${id} ${call.method.name}`
  const nowMs = clock.nowMs()
  if (nowMs > deadlineMs + toleranceMs)
    arena.report('ends-in-time', `${where} ended ${nowMs - deadlineMs} ms after its budget`)
  if (outcome?.kind === 'defect')
    arena.report('no-defect', `${where} ended with ${String(outcome.thrown)}`)
  if (call.method.kind === 'read') {
    // No request is sent while the call waits for heads.
    const isWaiting = call.directives.minBlock !== null && exchanges.length === 0
    if (leftMs !== null && nowMs > leftMs + (isWaiting ? maxWakeMs : 0))
      arena.report('ends-with-its-client', `${where} ended long after its client had left`)
    if (exchanges.some(({ endedMs }) => endedMs === null))
      arena.report('leaves-nothing', `${where} ended and left a request under way`)
  }
  checkAnswer(arena, client, where)
  checkLateAnswer(arena, client, where)
  if (call.method.kind === 'read' && isFailure(arena, client)) checkFailure(arena, client, where)
  checkBreaker(arena, client, where)
}

/** Rules at the end of a request to an upstream. */
export function checkExchange(arena: Arena, exchange: Exchange): void {
  noteLimit(arena, exchange)
  const client = exchange.callId === null ? undefined : arena.calls.get(exchange.callId)
  if (!client || exchange.endedMs === null) return
  const tookMs = exchange.endedMs - exchange.sentMs
  const budgetMs = attemptMs(arena, client, exchange)
  if (tookMs > budgetMs + toleranceMs)
    arena.report(
      'attempt-in-its-time',
      `${client.id} waited ${tookMs} ms for ${exchange.place.upstream}, ${budgetMs} ms were its time`,
    )
}

/** The first answer that asks for a cooldown starts it; later answers do not change it. */
function noteLimit({ clock, seats, calls }: Arena, exchange: Exchange): void {
  const { place, callId, limitMs, isAborted, fate } = exchange
  const seat = seats.get(place.printable) as Seat
  const nowMs = clock.nowMs()
  if (limitMs === null || isAborted || fate.kind !== 'faulty') return
  // After an unknown method or a probe, a 503 does not say when the URL is available again.
  const isCall = callId !== null && calls.get(callId)?.call.method.known === true
  const asksForIt = fate.fault === 'rate-limit' || (fate.fault === 'status' && isCall)
  if (!asksForIt || Math.max(seat.limitedUntilMs, seat.cooldownUntilMs) > nowMs) return
  seat.limitedUntilMs = nowMs + limitMs
}

/** Attempts that were aborted before their time, although nothing else ended the call. */
export function checkAborted(arena: Arena, client: ClientCall): void {
  for (const exchange of client.exchanges) {
    if (!exchange.isAborted || exchange.endedMs === null) continue
    const isSpent =
      exchange.endedMs - exchange.sentMs >= attemptMs(arena, client, exchange) - toleranceMs
    if (isSpent || exchange.endedMs === client.endedMs || exchange.endedMs === client.leftMs)
      continue
    arena.report(
      'attempt-in-its-time',
      `${client.id} aborted its request to ${exchange.place.upstream} before its time`,
    )
  }
}

/** The time of an attempt by the documentation, not by the engine: a given time, or the rest. */
function attemptMs(arena: Arena, client: ClientCall, exchange: Exchange): number {
  const wantedMs = firmMs(arena, client, exchange) ?? Infinity
  return Math.min(wantedMs, client.deadlineMs - exchange.sentMs)
}

/** The time that the client or the config gives; null: none. */
function firmMs({ seats }: Arena, { plan }: ClientCall, { place }: Exchange): number | null {
  return plan.relayTimeoutMs ?? (seats.get(place.printable) as Seat).plan.timeoutMs
}

/** No call fails while a node is about to answer within the call's time. */
function checkLateAnswer(arena: Arena, client: ClientCall, where: string): void {
  const { outcome, exchanges, deadlineMs } = client
  if (outcome?.kind !== 'error') return
  const missed = exchanges.find(
    (each) =>
      each.isAborted &&
      each.fate.kind === 'honest' &&
      !each.saysError &&
      each.dueMs !== null &&
      each.dueMs < deadlineMs - toleranceMs &&
      firmMs(arena, client, each) === null,
  )
  if (missed)
    arena.report(
      'late-answers-count',
      `${where} failed, ${missed.place.upstream} was about to answer`,
    )
}

function checkAnswer(arena: Arena, client: ClientCall, where: string): void {
  if (client.outcome?.kind !== 'reply') return
  const exchange = exchangeOf(arena, client)
  if (!exchange || exchange.callId !== client.id)
    return arena.report('own-answer', `${where} got an answer that is not its own`)
  if (exchange.place.upstream !== client.outcome.reply.upstream)
    arena.report('own-answer', `${where} names an upstream that did not answer it`)
  checkHistory(arena, client, exchange, where)
  const { fate } = exchange
  const covered = coveredAt[arena.schedule.settings.relay.integrity]
  if (fate.kind !== 'wrong' || !covered.has(fate.wrong)) return
  // If two upstreams answer alike, their answer is passed on.
  const { wrong } = fate
  const isAlike = client.exchanges.some(
    ({ place, fate: other }) =>
      place.upstream !== exchange.place.upstream && other.kind === 'wrong' && other.wrong === wrong,
  )
  if (!isAlike) arena.report('right-answer', `${where} got ${wrong} of ${exchange.place.upstream}`)
}

/**
 * An empty answer is wrong while a node with the block can answer, unless such a node gave the same
 * answer. Two pruned nodes may agree on empty logs.
 */
function checkHistory(arena: Arena, client: ClientCall, exchange: Exchange, where: string): void {
  const { fate, isPruned, place, method, head } = exchange
  if (fate.kind !== 'honest' || !isPruned || !budgetLeft(arena, client)) return
  const { latest: known } = upstreamNamed(arena, place.upstream)
  if (known === null || endsAll(client)) return
  // A node that is not known to have reached the block need not have pruned it.
  const latest = blockAsked(client, exchange)
  if ((firstPoint(client.call.method.block) ?? latest ?? 0) > known.block) return
  // Only a simulated node lacks its own latest block: it syncs, and starts below its oldest block.
  if (latest !== null && head < arena.headAt(0) - keptBlocks) return
  const sound = client.exchanges.filter((each) => each.fate.kind === 'honest' && !each.isAborted)
  if (sound.some((each) => !each.isPruned && !each.saysError)) return
  const seats = [...arena.seats.values()]
  const pruned = seats.filter(({ plan }) => plan.isPruned).map(({ upstream }) => upstream.name)
  if (method === 'eth_getLogs' && new Set(pruned).size > 1) return
  // The answer is confirmed only by an upstream that is known to have the block of the floor.
  const floor = client.call.directives.minBlock ?? 0
  const able = ableFor(arena, client, floor)
  if (able !== null)
    arena.report('has-the-past', `${where} got nothing while ${able} was able to answer`)
}

/** The client gets a failure that every upstream would repeat. */
function endsAll({ exchanges }: ClientCall): boolean {
  return exchanges.some(({ fate }) => fate.kind === 'faulty' && fate.fault === 'too-large')
}

/** An error of the router, a broken answer, or the error of a node without the block. */
function isFailure(arena: Arena, client: ClientCall): boolean {
  if (client.outcome?.kind === 'error') return true
  const exchange = exchangeOf(arena, client)
  if (!exchange) return client.outcome?.kind === 'reply'
  // A node refuses a range that starts above its head.
  const requests = exchange.method === 'eth_getLogs' ? 0 : blockAsked(client, exchange)
  const neededBlock = client.question.neededBlock ?? requests ?? 0
  const couldNotKnow = exchange.head < neededBlock && exchange.saysError
  const { fate } = exchange
  const isFaulty = fate.kind === 'faulty' && !isTakenAsItIs(arena, client)
  return isFaulty || couldNotKnow
}

/** With the checks switched off, a page that claims success is an answer. */
function isTakenAsItIs({ schedule }: Arena, { outcome }: ClientCall): boolean {
  const isUnchecked = schedule.settings.relay.integrity === 'off'
  return isUnchecked && outcome?.kind === 'reply' && outcome.reply.incoming.status < 400
}

function checkFailure(arena: Arena, client: ClientCall, where: string): void {
  if (endsAll(client) || !budgetLeft(arena, client)) return
  const able = ableFor(arena, client)
  if (able === null) return
  const { outcome } = client
  // After an outage one call is let through on trial; the others are refused.
  if (isRefusedAtOnce(client) || isOwnErrorAtFloor(arena, client)) return
  const how = outcome?.kind === 'error' ? outcome.error.kind.reason : 'the error of an upstream'
  const rule = how === 'min-block' ? 'floor-is-kept' : 'reads-succeed'
  arena.report(rule, `${where} failed with ${how} while ${able} was able to answer`)
}

/** After an error that its node would repeat, a call does not wait for other nodes' heads. */
function isOwnErrorAtFloor({ pool }: Arena, { call, outcome, exchanges, plan }: ClientCall) {
  const { minBlock } = call.directives
  const result = call.journal.attempts.at(-1)?.result
  if (minBlock === null || outcome?.kind !== 'reply' || typeof result !== 'object') return false
  const isOut = [...exchanges.map(({ place }) => place.upstream), ...plan.blockProviders]
  const others = pool.upstreams.filter(({ name }) => !isOut.includes(name))
  const isRepeated = result !== null && result.origin !== 'upstream'
  return isRepeated && others.every(({ latest }) => !latest || latest.block < minBlock)
}

/** Refused by the breaker or by cooldowns, without a request. */
function isRefusedAtOnce({ outcome, exchanges }: ClientCall): boolean {
  if (outcome?.kind !== 'error' || exchanges.length > 0) return false
  const { breakerOpen, rateLimited } = errorKinds
  return outcome.error.kind === breakerOpen || outcome.error.kind === rateLimited
}

function checkBreaker(arena: Arena, { outcome }: ClientCall, where: string): void {
  if (outcome?.kind !== 'error' || outcome.error.kind !== errorKinds.breakerOpen) return
  const nowMs = arena.clock.nowMs()
  const askable = [...arena.seats.values()].filter(
    ({ url, cooldownUntilMs }) => url.verified === true && cooldownUntilMs <= nowMs,
  )
  const inService = askable.find(isInService)
  if (inService)
    return arena.report(
      'breaker-is-right',
      `${where} was refused while ${inService.upstream.name} is in service`,
    )
  // One call at a time may try a disabled upstream.
  const isTried = [...arena.calls.values()].some(
    ({ endedMs, exchanges }) => endedMs === null && exchanges.length > 0,
  )
  if (askable.length > 0 && !isTried)
    arena.report('breaker-is-right', `${where} was refused, and no call is on trial`)
}

function isInService({ upstream }: Seat): boolean {
  return upstream.availability.standing === 'eligible'
}

/**
 * An upstream is able to answer a call when, from the call's beginning to its end, one of its URLs
 * - was verified, declares what the call needs, and had no cooldown,
 * - had no fault, however slight, and is on the right chain,
 * - had the block that the call is about,
 * and the upstream was neither full nor excluded by the client, and either was not asked by the
 * call or gave it an honest result from that URL. An upstream that took too long was not able.
 * @param known the head that the router must know it to have
 */
function ableFor(arena: Arena, client: ClientCall, known = 0): string | null {
  for (const seat of arena.seats.values()) {
    const { name, latest } = seat.upstream
    if ((latest?.block ?? 0) < known) continue
    if (client.plan.blockProviders.includes(name)) continue
    if (arena.schedule.settings.maxSessions < 1_000) continue
    if (!wasFit(arena, seat, client)) continue
    const requests = client.exchanges.filter(({ place }) => place.upstream === name)
    // Its other URL may have lacked the block.
    const answered = requests.some(
      ({ place, fate, isAborted, saysError }) =>
        place.printable === seat.url.printable &&
        fate.kind === 'honest' &&
        !isAborted &&
        !saysError,
    )
    if (requests.length === 0 || answered) return name
  }
  return null
}

function wasFit(arena: Arena, seat: Seat, client: ClientCall): boolean {
  const { clock, chain } = arena
  const { plan, url } = seat
  const { startedMs, call, question } = client
  const nowMs = clock.nowMs()
  return (
    client.verified.has(url.printable) &&
    url.verified === true &&
    seat.cooldownUntilMs <= startedMs &&
    !plan.isForeign &&
    plan.syncing === null &&
    hadFloor(arena, seat, client) &&
    !lacksHistory(arena, seat.upstream, client) &&
    (call.method.addon === null || plan.addons.includes(call.method.addon)) &&
    plan.faults.every(({ fromMs, untilMs }) => untilMs <= startedMs || nowMs < fromMs) &&
    (question.neededBlock === null || chain.head - plan.lagBlocks >= question.neededBlock)
  )
}

/**
 * Whether the URL had the call's floor from the start, and the router had time to learn that: it
 * polls no heads of a disabled upstream, which it probes every half minute at least.
 */
function hadFloor(arena: Arena, { plan, upstream }: Seat, client: ClientCall): boolean {
  const floor = client.call.directives.minBlock
  const isLearnt = 3 * slowestMs(plan) + 500 < floorWaitMs(arena.schedule)
  const head = arena.headAt(client.startedMs) - plan.lagBlocks
  // The router follows the head of one URL.
  if (floor === null) return true
  const isFollowed = upstream.isInService || (upstream.latest?.block ?? 0) >= floor
  return isLearnt && isFollowed && upstream.urls.length < 2 && head >= floor
}

/** Whether the configured limits left the call another attempt when it ended. */
function budgetLeft({ schedule, clock }: Arena, client: ClientCall): boolean {
  const { retryLimit, maxAttempts } = schedule.settings.relay
  if (retryLimit === 0 || client.exchanges.length >= maxAttempts) return false
  if (clock.nowMs() >= client.deadlineMs) return false
  return triesOf(client, 'some') <= retryLimit
}

/** False only if the request certainly did not reach the node. */
export function wasSent({ fate }: Exchange): boolean {
  return fate.kind !== 'faulty' || (fate.fault !== 'refuse' && fate.fault !== 'crash')
}

/**
 * Tries that are over or under way, without the latest: a try is a first attempt or a retry, with
 * all attempts beside it. `some`: tries in which some request reached its upstream; `every`: tries
 * in which every request did.
 */
export function triesOf(client: ClientCall, reached: 'some' | 'every'): number {
  const tries: boolean[][] = []
  for (const [index, { kind }] of client.call.journal.attempts.entries()) {
    const exchange = client.exchanges[index]
    if (!exchange || (reached === 'every' && exchange.endedMs === null)) continue
    if (kind === 'first' || kind === 'retry') tries.push([])
    tries.at(-1)?.push(wasSent(exchange))
  }
  return tries.filter((all) => all[reached](Boolean)).length
}
