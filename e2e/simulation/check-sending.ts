// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toHash } from '../../proxy/json/values.ts'
import type { AttemptKind } from '../../proxy/relay/call.ts'
import type { Upstream } from '../../proxy/upstream/upstream.ts'
import {
  isFresh,
  isSound,
  lacksHistory,
  upstreamNamed,
  type Arena,
  type Seat,
  type ClientCall,
  type Exchange,
} from './arena.ts'
import { triesOf, wasSent } from './check-ending.ts'

const trialDistanceMs = 1_000

/** Checks a request when the engine sends it. The call's exchanges already include it. */
export function checkSending(arena: Arena, exchange: Exchange): void {
  const { clock, calls, seats } = arena
  const seat = seats.get(exchange.target.printable) as Seat
  const nowMs = clock.nowMs()
  if (Math.max(seat.cooldownUntilMs, seat.limitedUntilMs) > nowMs) {
    // While no other URL can serve, one call in a second may be a trial.
    if (nowMs - seat.lastTrialMs < trialDistanceMs)
      arena.report('cooldown-kept', `${nameOf(exchange)} is in cooldown`)
    seat.lastTrialMs = nowMs
    seat.trial = exchange
  }
  const client = exchange.callId === null ? undefined : calls.get(exchange.callId)
  if (client) checkCall(arena, exchange, client, seat)
}

function checkCall(arena: Arena, exchange: Exchange, client: ClientCall, seat: Seat): void {
  const { schedule, clock } = arena
  const { call, exchanges, id, plan } = client
  const { upstream } = seat
  const where = `${id} ${call.method.name} to ${nameOf(exchange)}`
  const isRead = call.method.kind === 'read'
  const isRetried = isRead || call.method.stateful === 'creates'
  const floor = call.method.kind === 'write' ? null : call.directives.minBlock
  if (clock.nowMs() >= client.deadlineMs) arena.report('ends-in-time', `${where} after its budget`)
  if (isRead && (client.endedMs !== null || client.leftMs !== null))
    arena.report('ends-with-its-client', `${where}, but the client no longer waits`)
  if (isRetried && exchanges.length > schedule.settings.relay.maxAttempts)
    arena.report('attempts-bounded', `${where} is attempt ${exchanges.length}`)
  if (seat.plan.isForeign || seat.url.verified !== true)
    arena.report('only-verified', `${where}, which is not verified`)
  if (plan.blockProviders.includes(upstream.name))
    arena.report('directives-kept', `${where}, which the client excluded`)
  if (call.method.addon !== null && !seat.plan.addons.includes(call.method.addon))
    arena.report('add-ons-kept', `${where}, which does not declare ${call.method.addon}`)
  if (upstream.usedSlots > schedule.settings.maxSessions)
    arena.report('sessions-bounded', `${where}, which has ${upstream.usedSlots} sessions`)
  // The head of a URL is unknown before its first report and after a jump.
  const { head } = seat.url
  if (floor !== null && head !== null && head.block < floor)
    arena.report('floor-is-kept', `${where}, which is below ${floor}`)
  checkRepetition(arena, exchange, client, where)
  checkReason(arena, client, where)
  const kind = call.journal.attempts.at(-1)?.kind
  const { retryLimit } = schedule.settings.relay
  // A call with a floor is retried for as long as it may wait.
  if (isRetried && floor === null && kind === 'retry' && triesOf(client, 'every') > retryLimit)
    arena.report('attempts-bounded', `${where} exceeds the retry limit`)
  if (kind !== 'failover') checkChoice(arena, exchange, client, where)
  if (kind === 'hedge' && !isRead) arena.report('only-reads-again', `${where} as a hedge`)
}

/** A further attempt needs a reason: the last answer was missing, or another node may do better. */
function checkReason(arena: Arena, client: ClientCall, where: string): void {
  const { call, exchanges } = client
  const { attempts } = call.journal
  const kind = attempts.at(-1)?.kind
  const last = exchanges.at(-2)
  // Among concurrent attempts it is unknown which one this attempt follows.
  const isNewTry = (each: AttemptKind) => each === 'first' || each === 'retry'
  const before = attempts.slice(0, -1).map((each) => each.kind)
  if (!last || before.includes('broadcast')) return
  if (before.slice(before.findLastIndex(isNewTry)).includes('hedge')) return
  if (kind === 'failover' && last.isAborted)
    arena.report('attempt-in-its-time', `${where}, after another URL had used up the time`)
  if (kind !== 'retry' && kind !== 'failover') return
  // A late attempt has no answer yet.
  const hasAnswered = last.endedMs !== null && !last.isAborted
  // A transaction whose answer is too long may go to another node.
  if (call.method.kind === 'write') return
  if (hasAnswered && last.fate.kind === 'faulty' && last.fate.fault === 'too-large')
    arena.report('only-where-it-helps', `${where} after a failure that every upstream would repeat`)
}

/** A write goes to each URL once. A local call that may have run is repeated only if it creates. */
function checkRepetition(
  arena: Arena,
  exchange: Exchange,
  { call, exchanges }: ClientCall,
  where: string,
): void {
  const before = exchanges.slice(0, -1)
  const { kind, stateful } = call.method
  if (kind === 'write') {
    const again = before.find(
      (each) => each.target.printable === exchange.target.printable && wasSent(each),
    )
    if (again) arena.report('writes-once', `${where} again`)
  }
  const isOnce = kind === 'local' && stateful !== 'creates'
  if (isOnce && before.some((each) => wasSent(each) && !isOverLimit(each)))
    arena.report('only-reads-again', `${where} after an earlier attempt`)
}

/**
 * The order of upstreams: untried before tried, primary before backup, fresh before lagging, with
 * the block before without it.
 */
function checkChoice(arena: Arena, exchange: Exchange, client: ClientCall, where: string): void {
  const { call, exchanges, plan } = client
  const chosen = upstreamNamed(arena, exchange.target.upstream)
  const before = exchanges.slice(0, -1)
  const isTried = (upstream: Upstream) =>
    before.some(({ target }) => target.upstream === upstream.name)
  const addons = call.method.addon === null ? [] : [call.method.addon]
  const able = arena.pool.upstreams.filter(
    (each) =>
      each !== chosen &&
      !plan.blockProviders.includes(each.name) &&
      each.availability.standing === 'eligible' &&
      !each.availability.isOnTrial &&
      !lacksHistory(arena, each, client) &&
      // A node that has said that it lacks the method comes last.
      each.urls.some(({ cooldown }) => cooldown.leftMsOf(call.method.name) === 0) &&
      each.usedSlots < arena.schedule.settings.maxSessions &&
      // A limit that the router has learned holds calls back.
      each.urls.some((url) => url.serves(addons) && url.waitMs === 0) &&
      (call.method.kind === 'write' || isAt(each, call.directives.minBlock ?? 0)),
  )
  const untried = able.filter((each) => !isTried(each))
  if (untried[0] && isTried(chosen))
    arena.report('other-upstream-first', `${where} again, before ${untried[0].name}`)
  if (plan.selectProvider === chosen.name) return
  const primary = untried.find(({ tier }) => tier === 'primary')
  if (primary && chosen.tier === 'backup')
    arena.report('primary-first', `${where}, a backup, before ${primary.name}`)
  if (call.method.kind === 'write') return
  const isHedge = call.journal.attempts.at(-1)?.kind === 'hedge'
  // A hedge at a lagging upstream could answer before the request to a fresh one.
  const isInFlight = ({ name }: Upstream) =>
    before.some(({ target, endedMs }) => target.upstream === name && endedMs === null)
  const peers = isHedge
    ? able.filter((each) => isInFlight(each) || !isTried(each))
    : untried.filter(({ tier }) => tier === chosen.tier)
  // An upstream with the start of a range, or with the block of a hash, precedes a fresh one
  // without it.
  const start = startOf(arena, client)
  const hasStart = ({ latest }: Upstream) => (latest?.block ?? Infinity) >= start
  const fresher = peers.find(
    (each) => hasBlock(each, client) && each.latest !== null && hasStart(each) >= hasStart(chosen),
  )
  if (fresher && !hasBlock(chosen, client))
    arena.report('fresh-first', `${where}, which lags, before ${fresher.name}`)
  const current = peers.find((each) => isSound(arena, each) && each.latest !== null)
  if (current && isFromSyncing(arena, exchange, client))
    arena.report('not-from-syncing', `${where}, which is syncing, before ${current.name}`)
}

/** Whether a read of the latest state goes to a node that reports that it is syncing. */
function isFromSyncing(arena: Arena, { target, head, isSyncing }: Exchange, { call }: ClientCall) {
  const { upstream, syncingSinceMs } = arena.seats.get(target.printable) as Seat
  const isLatest = JSON.stringify(call.method.block).includes('"latest"')
  const isLearnt = upstream.urls.length === 1 && (upstream.status?.atMs ?? -1) >= syncingSinceMs
  return isLatest && isSyncing && isLearnt && !isFresh(arena, head)
}

/** The first block that a call needs; 0 if it is unknown. */
function startOf({ pool }: Arena, { call: { method } }: ClientCall): number {
  const { block } = method
  const point = block.kind === 'range' ? block.from : block
  if (point.kind === 'hash') return pool.tracker.numberOf(toHash(point.hash)) ?? 0
  return point.kind === 'number' ? point.number : 0
}

/** Whether an upstream has reached the call's block or, for a new block, does not lag. */
function hasBlock({ latest, lags }: Upstream, { call: { method } }: ClientCall): boolean {
  const { block, byHash } = method
  const point = block.kind === 'range' ? block.to : block
  if (point.kind === 'number') return latest === null || latest.block >= point.number
  const isAboutTip =
    point.kind === 'hash' ||
    (point.kind === 'tag' && point.tag !== 'earliest') ||
    (point.kind === 'none' && byHash)
  return !isAboutTip || !lags
}

/** Whether every head that an upstream reported has reached the block. */
function isAt({ latest, urls }: Upstream, floor: number): boolean {
  const heads = [latest, ...urls.map(({ head }) => head ?? latest)]
  return heads.every((head) => (head?.block ?? 0) >= floor)
}

/** Whether a rate limit or a quota prevented the execution. */
function isOverLimit({ fate }: Exchange): boolean {
  return fate.kind === 'faulty' && (fate.fault === 'rate-limit' || fate.fault === 'quota')
}

function nameOf({ target }: Exchange): string {
  return `${target.upstream}/${target.url}`
}

/** Extra calls of a new listener, and those earned over time, on top of a tenth of its reads. */
const credit = 10
const earnedPerMs = 1 / 10_000

/** Extra calls stay within a tenth of the reads, the credit, and the earnings over time. */
export function checkHedges(arena: Arena): void {
  let reads = 0
  let hedges = 0
  for (const { call } of arena.calls.values()) {
    if (call.method.kind === 'read') reads += 1
    for (const { kind } of call.journal.attempts) if (kind === 'hedge') hedges += 1
  }
  if (hedges > credit + reads / 10 + arena.clock.nowMs() * earnedPerMs + 1e-9)
    arena.report('extra-calls-bounded', `${hedges} extra calls for ${reads} reads`)
}
