// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { firstPoint, lastPoint } from '../chain/finality.ts'
import { reasonOf } from '../chain/failure-words.ts'
import type { Exchange } from './exchange.ts'
import type { Call } from './call.ts'
import type { RelayContext } from './relay-context.ts'
import type { Reply } from './reply.ts'
import { isNullOrEmpty } from './shown-block.ts'

/** Nodes behind one URL may disagree about younger blocks. */
const settledMs = 60_000

/**
 * Learns from an answer about a numbered block which nodes have it. A node that returned an empty
 * result or a `pruned` error lacks it if another node returns data. @returns whether another
 * upstream must confirm that an empty answer is not due to pruning
 */
export function learnHistory(
  { upstream, url, record }: Exchange,
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
  const isEmptyReply = () => isNullOrEmpty(incoming, reader.contentOf?.(incoming) ?? null, dialect)
  if (first === null) {
    // A lookup by hash may concern a block that the node has pruned.
    const mayLack = method.byHash && attempts.length === 1 && url.history.oldest(data) > 0
    if (!mayLack || !isEmptyReply()) return false
    journal.unconfirmed ??= upstream.name
    return true
  }
  const { history } = url
  const isReliable = history.trusts(method) || (url.addons.has('archive') && !history.lacks(method))
  if (attempts.length === 1 && !missedBlock && isReliable) return false
  const isEmpty = missedBlock || isEmptyReply()
  const last = lastPoint(block)
  if (isEmpty && first > (upstream.latest?.block ?? -1)) return false
  record.isEmpty = isEmpty
  const { unconfirmed } = journal
  const isAgreed = isEmpty && !missedBlock && unconfirmed !== null && unconfirmed !== upstream.name
  const youngBlocks = chain.allowedLagBlocks + Math.ceil(settledMs / chain.blockTimeMs)
  for (const other of attempts) {
    const failure = typeof other.result === 'object' ? other.result : null
    const isPruned = failure?.pruned === true
    // A missed block is at or below the node's head, so null is wrong.
    const isLack = isEmpty ? other.missedBlock : other.isEmpty || isPruned
    if (!isLack) continue
    const { latest, urls = [] } = pool.upstreams.find(({ name }) => name === other.upstream) ?? {}
    const lacking = urls.find(({ printable }) => printable === other.origin)
    // For recent blocks, nodes may differ and both be right. An error needs no comparison.
    const young = (latest?.block ?? 0) - youngBlocks
    const end = isPruned ? first : (last ?? Infinity)
    if (end >= young || !lacking) continue
    lacking.history.lacked(data, first, young)
    const isArchive = lacking.addons.has('archive') && pool.pick.wantsArchive(block)
    if (isPruned && isArchive) lacking.archiveGap = reasonOf(failure, other)
  }
  if (!isEmpty && last !== null) history.returned(data, last)
  if (!isEmpty || isAgreed) return false
  journal.unconfirmed ??= upstream.name
  return true
}
