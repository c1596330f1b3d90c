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

/** Rules at each request of the engine. `exchange` is already among the call's. */
export function checkSending(arena: Arena, exchange: Exchange): void {
  const { clock, calls, seats } = arena
  const seat = seats.get(exchange.place.printable) as Seat
  if (Math.max(seat.cooldownUntilMs, seat.limitedUntilMs) > clock.nowMs())
    arena.report('cooldown-kept', `${nameOf(exchange)} is in cooldown`)
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
    arena.report('ends-with-its-client', `${where}, whose client no longer waits`)
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
    arena.report('attempts-bounded', `${where} is a retry too many`)
  if (kind !== 'failover') checkChoice(arena, exchange, client, where)
  if (kind === 'hedge' && !isRead) arena.report('only-reads-again', `${where} as a hedge`)
}

/** Another attempt is made only if it may help, and only as often as the config allows. */
function checkReason(arena: Arena, client: ClientCall, where: string): void {
  const { call, exchanges } = client
  const { attempts } = call.journal
  const kind = attempts.at(-1)?.kind
  const last = exchanges.at(-2)
  // With attempts side by side it is not known which of them this one follows.
  const isNewTry = (each: AttemptKind) => each === 'first' || each === 'retry'
  const before = attempts.slice(0, -1).map((each) => each.kind)
  if (!last || before.includes('broadcast')) return
  if (before.slice(before.findLastIndex(isNewTry)).includes('hedge')) return
  if (kind === 'failover' && last.isAborted)
    arena.report('attempt-in-its-time', `${where}, after another URL had used the time up`)
  if (kind !== 'retry' && kind !== 'failover') return
  // A late attempt has no answer yet.
  const hasAnswered = last.endedMs !== null && !last.isAborted
  // A transaction whose answer is too long may go to another node.
  if (call.method.kind === 'write') return
  if (hasAnswered && last.fate.kind === 'faulty' && last.fate.fault === 'too-large')
    arena.report('only-where-it-helps', `${where} after what no other upstream could do better`)
}

/** A write goes to each URL once; a local call that may have run is repeated only if it creates. */
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
      (each) => each.place.printable === exchange.place.printable && wasSent(each),
    )
    if (again) arena.report('writes-once', `${where} again`)
  }
  const isOnce = kind === 'local' && stateful !== 'creates'
  if (isOnce && before.some((each) => wasSent(each) && !isOverLimit(each)))
    arena.report('only-reads-again', `${where} after it was sent already`)
}

/**
 * The choice among upstreams: untried before tried, primary before backup, fresh before lagging,
 * with the block before without it.
 */
function checkChoice(arena: Arena, exchange: Exchange, client: ClientCall, where: string): void {
  const { call, exchanges, plan } = client
  const chosen = upstreamNamed(arena, exchange.place.upstream)
  const before = exchanges.slice(0, -1)
  const isTried = (upstream: Upstream) =>
    before.some(({ place }) => place.upstream === upstream.name)
  const addons = call.method.addon === null ? [] : [call.method.addon]
  const able = arena.pool.upstreams.filter(
    (each) =>
      each !== chosen &&
      !plan.blockProviders.includes(each.name) &&
      each.availability.standing === 'eligible' &&
      !each.availability.isOnTrial &&
      !lacksHistory(arena, each, client) &&
      each.usedSlots < arena.schedule.settings.maxSessions &&
      each.serves(addons) &&
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
  // A hedge at a lagging upstream could answer before a fresh one that is still asked.
  const isAsked = ({ name }: Upstream) =>
    before.some(({ place, endedMs }) => place.upstream === name && endedMs === null)
  const peers = isHedge
    ? able.filter((each) => isAsked(each) || !isTried(each))
    : untried.filter(({ tier }) => tier === chosen.tier)
  // A node with the start of a range, or a block known by its hash, precedes a fresh one without
  // it.
  const start = startOf(arena, client)
  const hasStart = ({ latest }: Upstream) => (latest?.block ?? Infinity) >= start
  const fresher = peers.find(
    (each) => hasWanted(each, client) && each.latest !== null && hasStart(each) >= hasStart(chosen),
  )
  if (fresher && !hasWanted(chosen, client))
    arena.report('fresh-first', `${where}, which lags, before ${fresher.name}`)
  const current = peers.find((each) => isSound(arena, each) && each.latest !== null)
  if (current && isFromSyncing(arena, exchange, client))
    arena.report('not-from-syncing', `${where}, which is syncing, before ${current.name}`)
}

/** A read of the latest state goes to a node that reports that it is syncing, with an old head. */
function isFromSyncing(arena: Arena, { place, head, isSyncing }: Exchange, { call }: ClientCall) {
  const { upstream, saidSyncingMs } = arena.seats.get(place.printable) as Seat
  const isLatest = JSON.stringify(call.method.block).includes('"latest"')
  const isLearnt = upstream.urls.length === 1 && (upstream.status?.atMs ?? -1) >= saidSyncingMs
  return isLatest && isSyncing && isLearnt && !isFresh(arena, head)
}

/** The first block that a call needs; 0 if it is unknown. */
function startOf({ pool }: Arena, { call: { method } }: ClientCall): number {
  const { block } = method
  const point = block.kind === 'range' ? block.from : block
  if (point.kind === 'hash') return pool.tracker.numberOf(toHash(point.hash)) ?? 0
  return point.kind === 'number' ? point.number : 0
}

/** Whether an upstream's own head has the call's block, or it does not lag if the block is new. */
function hasWanted({ latest, lags }: Upstream, { call: { method } }: ClientCall): boolean {
  const { block, byHash } = method
  const point = block.kind === 'range' ? block.to : block
  if (point.kind === 'number') return latest === null || latest.block >= point.number
  const isAboutTip =
    point.kind === 'hash' ||
    (point.kind === 'tag' && point.tag !== 'earliest') ||
    (point.kind === 'none' && byHash)
  return !isAboutTip || !lags
}

/** Whether an upstream has the block by every head that it reported. */
function isAt({ latest, urls }: Upstream, floor: number): boolean {
  const heads = [latest, ...urls.map(({ head }) => head ?? latest)]
  return heads.every((head) => (head?.block ?? 0) >= floor)
}

/** Refused by a rate limit or a quota: not executed. */
function isOverLimit({ fate }: Exchange): boolean {
  return fate.kind === 'faulty' && (fate.fault === 'rate-limit' || fate.fault === 'quota')
}

function nameOf({ place }: Exchange): string {
  return `${place.upstream}/${place.url}`
}

/** Extra calls of a new listener, and those that it earns by time, beside a tenth of its reads. */
const credit = 10
const earnedPerMs = 1 / 10_000

/** Extra calls stay within a tenth of the reads so far, the credit, and the earnings by time. */
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
