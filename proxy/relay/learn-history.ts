// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint, lastPoint } from '../chain/finality.ts'
import type { Attempt } from './attempt.ts'
import type { Call } from './call.ts'
import type { RelayContext } from './relay-context.ts'
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
  { method, journal, reader }: Call,
  { chain, dialect, pool }: RelayContext,
): boolean {
  const { data, block } = method
  const first = firstPoint(block)
  if (!data || reply.refusal !== null) return false
  const { missedBlock } = record
  const { attempts } = journal
  const { incoming } = reply
  const isNothing = () => saysNothing(incoming, reader.findingOf?.(incoming) ?? null, dialect)
  if (first === null) {
    // The node may have pruned the block of an object that its hash names.
    const mayLack = method.byHash && attempts.length === 1 && url.history.oldest(data) > 0
    if (!mayLack || !isNothing()) return false
    journal.unconfirmed ??= upstream.name
    return true
  }
  if (attempts.length === 1 && !missedBlock && url.history.trusts(method)) return false
  const isEmpty = missedBlock || isNothing()
  const last = lastPoint(block)
  if (isEmpty && first > (upstream.latest?.block ?? -1)) return false
  record.isEmpty = isEmpty
  const { unconfirmed } = journal
  const isAgreed = isEmpty && !missedBlock && unconfirmed !== null && unconfirmed !== upstream.name
  const youngBlocks = chain.allowedLagBlocks + Math.ceil(settledMs / chain.blockTimeMs)
  for (const other of attempts) {
    const isPruned = typeof other.result === 'object' && other.result?.pruned === true
    // A missed block is at or below the node's head, so null is wrong.
    const isLack = isEmpty ? other.missedBlock : other.isEmpty || isPruned
    const isConfirmed = isAgreed && other.isEmpty
    if (!isLack && !isConfirmed) continue
    const { latest, urls = [] } = pool.upstreams.find(({ name }) => name === other.upstream) ?? {}
    const history = urls.find(({ printable }) => printable === other.origin)?.history
    // Up to `latest`, or to a young block, nodes may return different data and both be right. An error needs no comparison.
    const young = (latest?.block ?? 0) - youngBlocks
    const end = isPruned ? first : (last ?? Infinity)
    if (isConfirmed) history?.agreed(data, first)
    else if (end < young) history?.lacked(data, first, young)
  }
  if (!isEmpty && last !== null) url.history.returned(data, last)
  if (!isEmpty || isAgreed) return false
  journal.unconfirmed ??= upstream.name
  return true
}
