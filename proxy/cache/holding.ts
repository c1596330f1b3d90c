// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { lastPoint } from '../chain/finality.ts'
import type { AgeClass } from '../config/types.ts'
import { spells } from '../json/scanner.ts'
import type { CacheWhy, Call } from '../relay/call.ts'
import type { Finding, Reply } from '../relay/reply.ts'
import { shownBlock } from '../relay/shown-block.ts'
import type { Dialect } from '../upstream/dialect.ts'
import { ageClassOf, ageOfBlock } from './age.ts'

/** What was known of the chain when a call was sent. */
export interface Moment {
  readonly tip: number | null
  /** How many blocks behind the tip a block is final. */
  readonly distance: number
  /** The highest head of any upstream. */
  readonly head: number
}

/** How long an answer stays true, or why it is not kept. An empty one is kept for as long as one about the latest block. */
export type Holding = { readonly ageClass: AgeClass; readonly isEmpty: boolean } | CacheWhy

/**
 * @param moment when the call was sent: what its answer says may be older than what is known since
 * @param finding what the answer is; null where nothing is remembered of it
 */
export function holdingOf(
  call: Call,
  reply: Reply,
  moment: Moment,
  finding: Finding | null,
  dialect: Dialect,
): Holding {
  const { asked } = call
  const { incoming, refusal, latestBlock } = reply
  const { body, status } = incoming
  if (!(body instanceof Uint8Array)) return 'too-large'
  const isOwn = refusal === null || isFunctionOfCall(refusal)
  if (status !== 200 || !isOwn || !isBelieved(call, reply)) return 'error'
  const ageClass = ageClassOf(asked, moment.tip, moment.distance)
  if (ageClass === null) return 'block-unknown'
  const has = (block: number) => latestBlock !== null && latestBlock >= block
  const { block, showsBlock } = asked
  const isByHash = ageClass === 'near-head' && (block.kind === 'none' || block.kind === 'hash')
  const shown = isByHash && showsBlock ? shownBlock(incoming, finding, showsBlock, dialect) : null
  // A transaction that waits has no block yet.
  const isEmpty = isNull(finding, body) || (isByHash && Boolean(showsBlock) && shown === null)
  // A node that lags says the same of what it does not have yet.
  if (isEmpty) return has(moment.head) ? { ageClass, isEmpty } : 'empty'
  if (isByHash) {
    const { tip, distance, head } = moment
    // Where blocks are final at once, so is what is in one.
    if (distance <= 1) return { ageClass: 'finalized', isEmpty }
    if (shown !== null && tip !== null)
      return { ageClass: ageOfBlock(shown, tip, distance), isEmpty }
    return head > 0 ? { ageClass, isEmpty } : 'block-unknown'
  }
  const needed = ageClass === 'latest' ? moment.head : (lastPoint(block) ?? 0)
  const isThere = needed === 0 ? ageClass === 'finalized' : has(Math.min(needed, moment.head))
  return isThere ? { ageClass, isEmpty } : 'block-unknown'
}

/** It is the contract's own answer: any node gives it in that state. */
function isFunctionOfCall({ name }: FailureClass): boolean {
  return name.startsWith('execution-reverted')
}

/** The relay took it for the answer; it is not the best of what nodes offered instead of one. */
function isBelieved({ journal }: Call, { upstream, refusal }: Reply): boolean {
  const made = journal.attempts.findLast(
    (each) => each.upstream === upstream && each.result !== 'aborted',
  )
  const expected = refusal === null ? 'answer' : 'node-error'
  return made !== undefined && !made.missedBlock && made.result === expected
}

function isNull(finding: Finding | null, body: Uint8Array): boolean {
  if (finding?.kind !== 'result') return spells(body, 0, body.length, 'null')
  return finding.isNull === true || finding.parsed === null
}
