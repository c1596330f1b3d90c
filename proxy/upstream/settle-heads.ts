// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, ProbeCall } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { applyProbe, isTrouble, type ProbeTrouble } from './apply-probe.ts'
import type { AskUrl, ProbeAnswer } from './ask.ts'
import { compareDates, madeMsOf, type DatedHead, type LowerHead } from './block-dates.ts'
import type { Dispute } from './disputes.ts'
import type { Pool } from './pool.ts'
import type { Upstream } from './upstream.ts'

export interface SettleHeadsOptions {
  readonly pool: Pick<Pool, 'disputeOf' | 'settled' | 'pace'>
  readonly iface: Pick<ChainInterface, 'blockTimeAt' | 'isBlockTimeOptional' | 'blockHashAt'>
  readonly clock: Pick<Clock, 'nowMs' | 'wallMs'>
  readonly ask: AskUrl
}

/** So many more are tried where a block has no time. */
const spareBlocks = 2
/** So many blocks tell how long one of them takes. */
const historyBlocks = 16

/**
 * Where upstreams disagree on the tip, the times of their newest blocks tell who is behind.
 * @param upstream one that has told its head
 */
export async function settleHeads(upstream: Upstream, options: SettleHeadsOptions): Promise<void> {
  const { pool, iface, clock } = options
  const dispute = pool.disputeOf(upstream)
  if (dispute === null || !iface.blockTimeAt) return
  const [higher, ...lower] = await Promise.all([
    datedHeadOf(dispute.higher, options),
    ...dispute.lower.map((each) => lowerHeadOf(each, options)),
  ])
  const wallMs = clock.wallMs()
  const verdicts = lower.flatMap((each) =>
    higher && each ? [compareDates(higher, each, wallMs, pool.pace, dispute.isOutvoted)] : [],
  )
  // Who could not be asked may be the one that keeps up.
  if (verdicts.length < lower.length) return pool.settled(dispute, null)
  const isOpen = verdicts.some((verdict) => verdict !== 'behind')
  const apart = isOpen ? await apartIn(dispute, options) : new Set<Upstream>()
  const told = verdicts.map((verdict, at) =>
    apart.has(dispute.lower[at] as Upstream) ? 'apart' : verdict,
  )
  pool.settled(dispute, told)
}

/**
 * Those of the lower ones that have another block at a height that all have, where another of them has
 * that of the higher one: so their chain is their own, however new its blocks are.
 */
async function apartIn(
  { higher, lower }: Dispute,
  options: SettleHeadsOptions,
): Promise<ReadonlySet<Upstream>> {
  const heights = [higher, ...lower].map((each) => datedBlockOf(each, options) ?? NaN)
  const height = Math.min(...heights)
  if (Number.isNaN(height)) return new Set()
  const hashAt = (upstream: Upstream) => hashOf(upstream, height, options)
  const [own, ...others] = await Promise.all([higher, ...lower].map(hashAt))
  if (!own || !others.includes(own)) return new Set()
  return new Set(lower.filter((_, at) => others[at] && others[at] !== own))
}

/** Null where it does not say. */
async function hashOf(
  upstream: Upstream,
  height: number,
  options: SettleHeadsOptions,
): Promise<string | null> {
  const answer = await answerOf(upstream, options.iface.blockHashAt, height, options)
  return answer?.kind === 'value' && typeof answer.value === 'string'
    ? answer.value.toLowerCase()
    : null
}

/** Null where it could not be asked. */
async function datedHeadOf(
  upstream: Upstream,
  options: SettleHeadsOptions,
): Promise<DatedHead | null> {
  const block = datedBlockOf(upstream, options)
  if (block === null) return null
  // Now and then a node that is well does not find a block: one below it will do.
  for (let below = 0; ; below++) {
    const height = Math.max(0, block - below)
    const madeMs = await dateOf(upstream, height, options)
    if (madeMs === undefined) return null
    if (madeMs !== null || below === spareBlocks) return { block: height, madeMs }
  }
}

/** The same, and how fast its blocks came. */
async function lowerHeadOf(
  upstream: Upstream,
  options: SettleHeadsOptions,
): Promise<LowerHead | null> {
  const { clock } = options
  const { latest } = upstream
  const block = datedBlockOf(upstream, options)
  if (!latest || block === null) return null
  const toldMs = clock.wallMs() - (clock.nowMs() - latest.atMs)
  const before = Math.max(0, block - historyBlocks)
  const [head, madeBeforeMs] = await Promise.all([
    datedHeadOf(upstream, options),
    dateOf(upstream, before, options),
  ])
  if (head === null) return null
  const tookMs = (head.madeMs ?? 0) - (madeBeforeMs ?? Infinity)
  return { ...head, toldMs, blockTimeMs: tookMs > 0 ? tookMs / (block - before) : null }
}

/** The newest block may not be on all machines behind a URL yet. */
function datedBlockOf({ latest }: Upstream, { pool }: SettleHeadsOptions): number | null {
  return latest && Math.max(0, latest.block - pool.pace.allowedLagBlocks)
}

/** When a block was made; null: it does not say. Undefined where it could not be asked. */
async function dateOf(
  upstream: Upstream,
  height: number,
  options: SettleHeadsOptions,
): Promise<number | null | undefined> {
  const { iface } = options
  const answer = await answerOf(upstream, iface.blockTimeAt, height, options)
  if (answer === null) return undefined
  if (answer.kind === 'value') return madeMsOf(answer.value)
  // That it has no such block is an answer.
  return iface.isBlockTimeOptional ? undefined : null
}

/** What it says about the block of a height; null where it could not be asked. */
async function answerOf(
  upstream: Upstream,
  questionAt: ((height: number) => ProbeCall) | null,
  height: number,
  { ask }: SettleHeadsOptions,
): Promise<Exclude<ProbeAnswer, ProbeTrouble> | null> {
  const [url] = upstream.urlsFor([])
  if (!url || !questionAt) return null
  const answer = await ask(url, questionAt(height))
  if (!isTrouble(answer)) return answer
  applyProbe(upstream, url, answer, 'probe')
  return null
}
