// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint } from '../../proxy/chain/finality.ts'
import { errorKinds } from '../../proxy/relay/errors.ts'
import type { Arena, ClientCall, Exchange, Seat } from './arena.ts'
import { exchangeOf, lacksHistory, upstreamNamed } from './arena.ts'
import { requestedBlock, floorWaitMs, maxWakeMs } from './floor-watch.ts'
import { retainedBlocks, type UrlPlan } from './schedule.ts'
import { coveredAt } from './wrong-answers.ts'

/** Practical upper bound of its latency. */
export function slowestMs({ latency }: UrlPlan): number {
  const { medianMs, spread, tailShare, tailFactor } = latency
  return medianMs * Math.exp(4 * spread) * (tailShare > 0 ? tailFactor : 1)
}

/** Sums of fractions of milliseconds are not exact. */
const toleranceMs = 1e-6

/** Checks a call when it ends for its client. */
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
      arena.report('leaves-nothing', `${where} ended and left a request in flight`)
  }
  checkAnswer(arena, client, where)
  checkLateAnswer(arena, client, where)
  if (call.method.kind === 'read' && isFailure(arena, client)) checkFailure(arena, client, where)
  checkBreaker(arena, client, where)
}

/** Checks a request to an upstream when it ends. */
export function checkExchange(arena: Arena, exchange: Exchange): void {
  noteLimit(arena, exchange)
  const client = exchange.callId === null ? undefined : arena.calls.get(exchange.callId)
  if (!client || exchange.endedMs === null) return
  const tookMs = exchange.endedMs - exchange.sentMs
  const budgetMs = attemptMs(arena, client, exchange)
  if (tookMs > budgetMs + toleranceMs)
    arena.report(
      'attempt-in-its-time',
      `${client.id} waited ${tookMs} ms for ${exchange.target.upstream}, ${budgetMs} ms were its time`,
    )
}

/** The first answer that requests a cooldown starts it; later answers do not change it. */
function noteLimit({ clock, seats, calls }: Arena, exchange: Exchange): void {
  const { target, callId, limitMs, isAborted, fate } = exchange
  const seat = seats.get(target.printable) as Seat
  const nowMs = clock.nowMs()
  // An answer to a trial ends the cooldown.
  if (seat.trial === exchange && !isAborted && fate.kind !== 'faulty')
    seat.limitedUntilMs = seat.cooldownUntilMs = nowMs
  if (limitMs === null || isAborted || fate.kind !== 'faulty') return
  // After an unknown method or a probe, a 503 does not say when the URL is available again.
  const isCall = callId !== null && calls.get(callId)?.call.method.known === true
  const requestsCooldown = fate.fault === 'rate-limit' || (fate.fault === 'status' && isCall)
  if (!requestsCooldown || Math.max(seat.limitedUntilMs, seat.cooldownUntilMs) > nowMs) return
  seat.limitedUntilMs = nowMs + limitMs
  seat.lastTrialMs = nowMs
}

/** Reports attempts that were aborted early, although nothing else ended the call. */
export function checkAborted(arena: Arena, client: ClientCall): void {
  for (const exchange of client.exchanges) {
    if (!exchange.isAborted || exchange.endedMs === null) continue
    const isSpent =
      exchange.endedMs - exchange.sentMs >= attemptMs(arena, client, exchange) - toleranceMs
    if (isSpent || exchange.endedMs === client.endedMs || exchange.endedMs === client.leftMs)
      continue
    arena.report(
      'attempt-in-its-time',
      `${client.id} aborted its request to ${exchange.target.upstream} before its time`,
    )
  }
}

/** Documented timeout of an attempt: a configured one, or the rest of the call's budget. */
function attemptMs(arena: Arena, client: ClientCall, exchange: Exchange): number {
  const timeoutMs = configuredMs(arena, client, exchange) ?? Infinity
  return Math.min(timeoutMs, client.deadlineMs - exchange.sentMs)
}

/** The timeout from the client or the config; null: none. */
function configuredMs({ seats }: Arena, { plan }: ClientCall, { target }: Exchange): number | null {
  return plan.relayTimeoutMs ?? (seats.get(target.printable) as Seat).plan.timeoutMs
}

/** No call fails while a node is about to answer within the call's budget. */
function checkLateAnswer(arena: Arena, client: ClientCall, where: string): void {
  const { outcome, exchanges, deadlineMs } = client
  if (outcome?.kind !== 'error') return
  const missed = exchanges.find(
    (each) =>
      each.isAborted &&
      each.fate.kind === 'honest' &&
      !each.isError &&
      each.dueMs !== null &&
      each.dueMs < deadlineMs - toleranceMs &&
      configuredMs(arena, client, each) === null,
  )
  if (missed)
    arena.report(
      'late-answers-count',
      `${where} failed, ${missed.target.upstream} was about to answer`,
    )
}

function checkAnswer(arena: Arena, client: ClientCall, where: string): void {
  if (client.outcome?.kind !== 'reply') return
  const exchange = exchangeOf(arena, client)
  if (!exchange || exchange.callId !== client.id)
    return arena.report('own-answer', `${where} got an answer that is not its own`)
  if (exchange.target.upstream !== client.outcome.reply.upstream)
    arena.report('own-answer', `${where} names an upstream that did not answer it`)
  checkHistory(arena, client, exchange, where)
  const { fate } = exchange
  const covered = coveredAt[arena.schedule.settings.relay.integrity]
  if (fate.kind !== 'wrong' || !covered.has(fate.wrong)) return
  // If two upstreams return the same wrong answer, the router passes it on.
  const { wrong } = fate
  const isRepeated = client.exchanges.some(
    ({ target, fate: other }) =>
      target.upstream !== exchange.target.upstream &&
      other.kind === 'wrong' &&
      other.wrong === wrong,
  )
  if (!isRepeated)
    arena.report('right-answer', `${where} got ${wrong} of ${exchange.target.upstream}`)
}

/**
 * An empty answer is wrong while a node with the block can answer, unless such a node returned the
 * same. Two pruned nodes may agree on empty logs.
 */
function checkHistory(arena: Arena, client: ClientCall, exchange: Exchange, where: string): void {
  const { fate, isPruned, target, method, head } = exchange
  if (fate.kind !== 'honest' || !isPruned || !budgetLeft(arena, client)) return
  const { latest: known } = upstreamNamed(arena, target.upstream)
  if (known === null || isFinal(client)) return
  // A node that may not have reached the block need not have pruned it.
  const latest = requestedBlock(client, exchange)
  if ((firstPoint(client.call.method.block) ?? latest ?? 0) > known.block) return
  // A simulated node that syncs starts below its oldest block, so it may lack its own latest block.
  if (latest !== null && head < arena.headAt(0) - retainedBlocks) return
  const sound = client.exchanges.filter((each) => each.fate.kind === 'honest' && !each.isAborted)
  if (sound.some((each) => !each.isPruned && !each.isError)) return
  const seats = [...arena.seats.values()]
  const pruned = seats.filter(({ plan }) => plan.isPruned).map(({ upstream }) => upstream.name)
  if (method === 'eth_getLogs' && new Set(pruned).size > 1) return
  // Only an upstream that is known to have the floor's block confirms the answer.
  const floor = client.call.directives.minBlock ?? 0
  const able = ableFor(arena, client, floor)
  if (able !== null)
    arena.report('has-the-past', `${where} got nothing although ${able} could answer`)
}

/** Whether an upstream returned a failure that every other would repeat. */
function isFinal({ exchanges }: ClientCall): boolean {
  return exchanges.some(({ fate }) => fate.kind === 'faulty' && fate.fault === 'too-large')
}

/** Whether the call got a router error, a broken answer, or an error for a missing block. */
function isFailure(arena: Arena, client: ClientCall): boolean {
  if (client.outcome?.kind === 'error') return true
  const exchange = exchangeOf(arena, client)
  if (!exchange) return client.outcome?.kind === 'reply'
  // A node refuses a range that starts above its head.
  const requested = exchange.method === 'eth_getLogs' ? 0 : requestedBlock(client, exchange)
  const neededBlock = client.question.neededBlock ?? requested ?? 0
  const lacksBlock = exchange.head < neededBlock && exchange.isError
  const { fate } = exchange
  const isFaulty = fate.kind === 'faulty' && !isUnchecked(arena, client)
  return isFaulty || lacksBlock
}

/** Without checks, any body with a success status is an answer. */
function isUnchecked({ schedule }: Arena, { outcome }: ClientCall): boolean {
  const isOff = schedule.settings.relay.integrity === 'off'
  return isOff && outcome?.kind === 'reply' && outcome.reply.incoming.status < 400
}

function checkFailure(arena: Arena, client: ClientCall, where: string): void {
  if (isFinal(client) || !budgetLeft(arena, client)) return
  const able = ableFor(arena, client)
  if (able === null) return
  const { outcome } = client
  // After an outage the breaker admits one trial call, and refuses the others.
  if (isRefusedAtOnce(client) || isOwnErrorAtFloor(arena, client)) return
  const how = outcome?.kind === 'error' ? outcome.error.kind.reason : 'the error of an upstream'
  const rule = how === 'min-block' ? 'floor-is-kept' : 'reads-succeed'
  arena.report(rule, `${where} failed with ${how} although ${able} could answer`)
}

/** After an error that its node would repeat, a call does not wait for the heads of others. */
function isOwnErrorAtFloor({ pool }: Arena, { call, outcome, exchanges, plan }: ClientCall) {
  const { minBlock } = call.directives
  const result = call.journal.attempts.at(-1)?.result
  if (minBlock === null || outcome?.kind !== 'reply' || typeof result !== 'object') return false
  const excluded = [...exchanges.map(({ target }) => target.upstream), ...plan.blockProviders]
  const others = pool.upstreams.filter(({ name }) => !excluded.includes(name))
  const isRepeated = result !== null && result.origin !== 'upstream'
  return isRepeated && others.every(({ latest }) => !latest || latest.block < minBlock)
}

/** Whether the breaker or cooldowns refused the call without a request. */
function isRefusedAtOnce({ outcome, exchanges }: ClientCall): boolean {
  if (outcome?.kind !== 'error' || exchanges.length > 0) return false
  const { breakerOpen, rateLimited } = errorKinds
  return outcome.error.kind === breakerOpen || outcome.error.kind === rateLimited
}

function checkBreaker(arena: Arena, { outcome }: ClientCall, where: string): void {
  if (outcome?.kind !== 'error' || outcome.error.kind !== errorKinds.breakerOpen) return
  const nowMs = arena.clock.nowMs()
  const available = [...arena.seats.values()].filter(
    ({ url, cooldownUntilMs }) => url.verified === true && cooldownUntilMs <= nowMs,
  )
  const inService = available.find(isInService)
  if (inService)
    return arena.report(
      'breaker-is-right',
      `${where} was refused while ${inService.upstream.name} is in service`,
    )
  // One trial call at a time may use a disabled upstream.
  const isOnTrial = [...arena.calls.values()].some(
    ({ endedMs, exchanges }) => endedMs === null && exchanges.length > 0,
  )
  if (available.length > 0 && !isOnTrial)
    arena.report('breaker-is-right', `${where} was refused, and no call is on trial`)
}

function isInService({ upstream }: Seat): boolean {
  return upstream.availability.standing === 'eligible'
}

/**
 * Returns an upstream that could answer the call. From the call's start to its end, one of its URLs
 * - was verified, declares what the call needs, and had no cooldown,
 * - had no fault, and is on the right chain,
 * - had the block of the call,
 * and the upstream was neither full nor excluded by the client. Either it got no request of the
 * call, or it returned an honest result from that URL in time.
 * @param known the least head that the router must know of
 */
function ableFor(arena: Arena, client: ClientCall, known = 0): string | null {
  for (const seat of arena.seats.values()) {
    const { name, latest } = seat.upstream
    if ((latest?.block ?? 0) < known) continue
    if (client.plan.blockProviders.includes(name)) continue
    if (arena.schedule.settings.maxSessions < 1_000) continue
    if (!couldServe(arena, seat, client)) continue
    const requests = client.exchanges.filter(({ target }) => target.upstream === name)
    // The other URL of the upstream may have lacked the block.
    const answered = requests.some(
      ({ target, fate, isAborted, isError }) =>
        target.printable === seat.url.printable && fate.kind === 'honest' && !isAborted && !isError,
    )
    if (requests.length === 0 || answered) return name
  }
  return null
}

function couldServe(arena: Arena, seat: Seat, client: ClientCall): boolean {
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
 * Whether the URL had the call's floor from the start, and the router had time to learn that. The
 * router polls no heads of a disabled upstream, but probes it at least every half minute.
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

/** Whether the request may have reached the node. */
export function wasSent({ fate }: Exchange): boolean {
  return fate.kind !== 'faulty' || (fate.fault !== 'refuse' && fate.fault !== 'crash')
}

/**
 * Counts the tries of a call: a first attempt or a retry, with the hedges and failovers after it.
 * `some` counts tries in which some request may have reached its upstream; `every`, those in which
 * every request did.
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
