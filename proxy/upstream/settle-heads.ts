// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { applyProbe, isTrouble } from './apply-probe.ts'
import type { AskUrl } from './ask.ts'
import { compareDates, madeMsOf, type DatedHead } from './block-dates.ts'
import type { NodeUrl } from './node-url.ts'
import type { Pool } from './pool.ts'
import type { Upstream } from './upstream.ts'

export interface SettleHeadsOptions {
  readonly pool: Pool
  readonly iface: Pick<ChainInterface, 'blockTimeAt'>
  readonly clock: Clock
  readonly ask: AskUrl
}

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
    ...dispute.lower.map((each) => datedHeadOf(each, options)),
  ])
  const wallMs = clock.wallMs()
  if (!higher) return
  const verdicts = lower.flatMap((each) =>
    each ? [compareDates(higher, each, wallMs, pool.pace)] : [],
  )
  // Who could not be asked may be the one that keeps up.
  if (verdicts.length === lower.length) pool.settled(dispute, verdicts)
}

/** Null where it could not be asked. */
async function datedHeadOf(
  upstream: Upstream,
  options: SettleHeadsOptions,
): Promise<DatedHead | null> {
  const { clock, pool } = options
  const { latest } = upstream
  const [url] = upstream.urlsFor([])
  if (!latest || !url) return null
  const toldMs = clock.wallMs() - (clock.nowMs() - latest.atMs)
  // The newest block may not be on all machines behind the URL yet.
  const block = Math.max(0, latest.block - pool.pace.allowedLagBlocks)
  const before = Math.max(0, block - historyBlocks)
  const [madeMs, madeBeforeMs] = await Promise.all([
    dateOf(upstream, url, block, options),
    dateOf(upstream, url, before, options),
  ])
  if (madeMs === undefined) return null
  const tookMs = (madeMs ?? 0) - (madeBeforeMs ?? Infinity)
  return { block, madeMs, toldMs, blockTimeMs: tookMs > 0 ? tookMs / (block - before) : null }
}

/** When a block was made; null: it does not say. Undefined where it could not be asked. */
async function dateOf(
  upstream: Upstream,
  url: NodeUrl,
  height: number,
  { iface, ask }: SettleHeadsOptions,
): Promise<number | null | undefined> {
  if (!iface.blockTimeAt) return undefined
  const answer = await ask(url, iface.blockTimeAt(height))
  if (isTrouble(answer)) {
    applyProbe(upstream, url, answer, 'probe')
    return undefined
  }
  return answer.kind === 'value' ? madeMsOf(answer.value) : null
}
