// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface, ProbeCall } from '../chain/types.ts'
import { within } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import type { Call } from '../relay/call.ts'
import { addonsOf } from '../relay/needs.ts'
import { pinned } from '../relay/pin.ts'
import { dialects, toBlockNumber } from '../upstream/dialect.ts'
import { probe } from '../upstream/probe.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { ParticipantsOptions } from './participants.ts'

/** Deadline for participants to report their block. */
const reportMs = 500

interface PinOptions extends ParticipantsOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly clock: Clock
}

/**
 * Replaces `latest`, `safe` and `finalized` with the highest block that enough participants have,
 * so that honest nodes at different heads agree. If too few report a block, the tag stays
 * unchanged.
 */
export async function pinnedForAll(
  upstreams: readonly Upstream[],
  options: PinOptions,
): Promise<Call> {
  const { iface, terms } = options
  let { call } = options
  for (const [tag, asking] of iface.tagBlocks) {
    if (!pinned(call, 0, tag)) continue
    const blocks = await reportsOf(asking, upstreams, options)
    const block = blocks.toSorted((a, b) => b - a)[terms.agreement - 1]
    if (block !== undefined) call = pinned(call, block, tag) ?? call
  }
  const known = upstreams.filter(({ latest }) => latest !== null)
  if (known.length < terms.agreement) return call
  const fresh = known.filter(({ lags }) => !lags)
  const heads = (fresh.length > 0 ? fresh : known).map(({ latest }) => latest?.block ?? 0)
  const ranked = heads.toSorted((a, b) => b - a).slice(0, terms.agreement)
  return pinned(call, Math.max(ranked.at(-1) ?? 0, call.directives.minBlock ?? 0)) ?? call
}

async function reportsOf(
  asking: ProbeCall,
  upstreams: readonly Upstream[],
  { call, chain: { failures }, iface, clock }: PinOptions,
): Promise<readonly number[]> {
  const blocks: number[] = []
  const dialect = dialects[iface.apiInterface]
  const report = async (upstream: Upstream, signal: AbortSignal) => {
    const [url] = upstream.urlsFor(addonsOf(call))
    const answer = url && (await probe(url, asking, { dialect, failures, clock, signal }))
    const value = answer?.kind === 'value' ? answer.value : null
    const block = toBlockNumber(value, asking.result.encoding)
    if (block !== null) blocks.push(block)
  }
  // Probes reject at the time limit.
  await within(clock, call.signal, reportMs, (signal) =>
    Promise.allSettled(upstreams.map((each) => report(each, signal))),
  )
  return blocks
}
