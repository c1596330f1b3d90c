// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { applyProbe, isTrouble } from './apply-probe.ts'
import type { AskUrl } from './ask.ts'
import { madeMsOf, isAheadByDate, type DatedHead } from './block-dates.ts'
import type { Pool } from './pool.ts'
import type { Upstream } from './upstream.ts'

export interface SettleHeadsOptions {
  readonly pool: Pool
  readonly iface: Pick<ChainInterface, 'blockTimeAt'>
  readonly clock: Clock
  readonly ask: AskUrl
}

/**
 * Where others disagree with an upstream on the tip, the times of their newest blocks tell who is
 * behind.
 * @param block the head that it told
 */
export async function settleHeads(
  upstream: Upstream,
  block: number,
  options: SettleHeadsOptions,
): Promise<void> {
  const { pool, iface, clock } = options
  const doubters = pool.doubtersOf(upstream)
  if (doubters.length === 0 || !iface.blockTimeAt) return
  const heads = [upstream, ...doubters].map((each) => dateOf(each, options))
  const [own, ...others] = await Promise.all(heads)
  if (!own || others.includes(null)) return
  const verdicts = others.map(
    (other) => other && isAheadByDate(own, other, clock.wallMs(), pool.pace),
  )
  if (verdicts.every((verdict) => verdict === true)) pool.settled(upstream, block, true)
  else if (verdicts.includes(false)) pool.settled(upstream, block, false)
}

/** Null where it could not be asked. */
async function dateOf(
  upstream: Upstream,
  { iface, pool, ask }: SettleHeadsOptions,
): Promise<DatedHead | null> {
  const { latest } = upstream
  const [url] = upstream.urlsFor([])
  if (!latest || !url || !iface.blockTimeAt) return null
  // The newest block may not be on all machines behind the URL yet.
  const height = Math.max(0, latest.block - pool.pace.allowedLagBlocks)
  const answer = await ask(url, iface.blockTimeAt(height))
  if (isTrouble(answer)) {
    applyProbe(upstream, url, answer, 'probe')
    return null
  }
  const madeMs = answer.kind === 'value' ? madeMsOf(answer.value) : null
  return { block: height, madeMs }
}
