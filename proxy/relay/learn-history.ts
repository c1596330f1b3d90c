// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint, lastPoint } from '../chain/finality.ts'
import type { NodeUrl, Upstream } from '../upstream/upstream.ts'
import type { Attempt } from './attempt.ts'
import type { AttemptRecord, Call } from './call.ts'
import type { RelayParts } from './parts.ts'
import type { Reply } from './reply.ts'
import { saysNothing } from './shown-block.ts'

/** Nodes behind one URL may disagree about blocks that are younger than this. */
const settledMs = 60_000

/**
 * Learns from an answer about a numbered block which nodes have the block. A node that returned nothing, or an error of
 * a class marked `pruned`, lacks it if another node returns data; if both return nothing, both have it.
 * @returns whether another upstream must confirm the answer: it is empty, and the node may have pruned the block
 */
export function learnHistory(
  { upstream, url, record }: Attempt,
  reply: Reply,
  call: Call,
  parts: RelayParts,
): boolean {
  const { asked, journal, reader } = call
  const { data = null, block } = asked
  const first = data && firstPoint(block)
  if (data === null || first === null || reply.refusal !== null) return false
  const { attempts } = journal
  const { missedBlock } = record
  if (attempts.length === 1 && !missedBlock && url.history.trusts(data, first)) return false
  const last = lastPoint(block)
  const lacks = (node: Upstream, { history }: NodeUrl) => {
    const { allowedLagBlocks, blockTimeMs } = parts.chain
    const young = allowedLagBlocks + Math.ceil(settledMs / blockTimeMs)
    const head = node.latest?.block ?? 0
    if (first < head - young && (last ?? head) <= head) history.lacked(data, first)
  }
  const learn = (isSuch: (each: AttemptRecord) => boolean, lesson: typeof lacks) => {
    for (const each of attempts) {
      const node = isSuch(each) && parts.pool.upstreams.find(({ name }) => name === each.upstream)
      const own = node && node.urls.find(({ printable }) => printable === each.origin)
      if (own) lesson(node, own)
    }
  }
  const { incoming } = reply
  const finding = reader.findingOf?.(incoming) ?? null
  if (!missedBlock && !saysNothing(incoming, finding, parts.dialect)) {
    if (attempts.length > 1) learn((each) => each.isEmpty || isPruned(each), lacks)
    if (last !== null) url.history.returned(data, last)
    return false
  }
  if (first > (upstream.latest?.block ?? -1)) return false
  record.isEmpty = true
  // The node had this block, so no second answer makes null right.
  if (missedBlock) lacks(upstream, url)
  else if (![null, upstream.name].includes(journal.unconfirmed)) {
    learn(
      (each) => each.isEmpty,
      (_, { history }) => history.agreed(data, first),
    )
    return false
  }
  journal.unconfirmed ??= upstream.name
  return true
}

function isPruned({ result }: AttemptRecord): boolean {
  return typeof result === 'object' && result?.pruned === true
}
