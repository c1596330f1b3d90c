// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { BlockPoint, BlockTag, Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { parseJson } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import { toNumber } from '../json/values.ts'
import type { Call, LogsNote, RelayObserver } from '../relay/call.ts'
import { askElsewhere } from '../relay/own-call.ts'
import { pinned } from '../relay/pin.ts'
import type { Relay } from '../relay/relay.ts'
import { maxAheadBlocks } from '../upstream/pool.ts'
import type { Density, RangeLimits } from './limits.ts'
import type { Range } from './log-list.ts'
import type { Slices } from './slices.ts'

/** The blocks of a query. */
export interface AskedRange extends Range {
  /** The end that the client asked for. Above `to` if no node can have that block yet. */
  readonly askedTo: number
  /** The head when the query arrived. Nodes may lack the blocks above it, or have them. */
  readonly head: number
}

/** A query for the logs of a range. */
export interface LogsQuery {
  readonly call: Call
  readonly range: AskedRange
  /** Logs up to this block can no longer change. */
  readonly finalTo: number
  /** Cached logs of final blocks; null if they are not cached. */
  readonly slices: Slices | null
  readonly density: Density
  /** Whether a second upstream is asked for final blocks. */
  readonly isVerified: boolean
  /** What happened so far. */
  readonly note: LogsNote
}

/** What all queries of a relay share. */
export interface LogsContext {
  readonly relay: Relay
  readonly chain: Chain
  /** Shared by all relays of the pool. */
  readonly limits: RangeLimits
  readonly clock: Clock
  readonly budget: ByteBudget
  readonly observer: Pick<RelayObserver, 'logsMismatched'>
}

/**
 * The blocks of a query. The head is polled, so nodes may have blocks above it, and an explicit end
 * is never lowered. Null if only the node knows the blocks: for another tag, an empty range, or a
 * range that begins above the head.
 */
export function rangeOf({ method: { block } }: Call, head: number): AskedRange | null {
  if (block.kind !== 'range') return null
  const from = heightOf(block.from, head)
  const askedTo = heightOf(block.to, head)
  const to = askedTo > head + maxAheadBlocks ? head : askedTo
  return from <= Math.min(to, head) ? { from, to, askedTo, head } : null
}

/** The call with `safe` or `finalized` at its end replaced by the number that a node reports. */
export async function withoutTag(call: Call, context: LogsContext): Promise<Call> {
  const { block } = call.method
  const tag: BlockTag = block.kind === 'range' && block.to.kind === 'tag' ? block.to.tag : 'latest'
  if (tag !== 'safe' && tag !== 'finalized') return call
  const question = { method: 'eth_getBlockByNumber', params: [tag, false] }
  const { only } = call.directives
  const number = toNumber(
    valueAt((await askElsewhere(call, context, { ...question, only }))?.result, ['number']),
  )
  return number === null ? call : (pinned(call, number, tag) ?? call)
}

/** NaN for a tag that only the node knows. */
function heightOf(point: BlockPoint, head: number): number {
  if (point.kind === 'number') return point.number
  const tags: Readonly<Record<string, number>> = { latest: head, earliest: 0 }
  return (point.kind === 'tag' ? tags[point.tag] : undefined) ?? NaN
}

const ownFields: ReadonlySet<string> = new Set(['address', 'topics', 'fromBlock', 'toBlock'])
/** A longer filter is split, but not cached. */
const maxFilterBytes = 256 * 1024

/** The filter of a query, and the params after it. */
export function filterIn({ request: { body } }: Call): readonly unknown[] {
  const { params } = (parseJson(body as Uint8Array) ?? {}) as { params?: unknown }
  return Array.isArray(params) ? params : []
}

/**
 * Digest of the addresses and topics of a query, equal for filters that select the same logs. Null
 * for a filter with other members, or in an unusual form.
 */
export function filterOf(call: Call): string | null {
  const { body, path, headers } = call.request
  if (!(body instanceof Uint8Array) || body.length > maxFilterBytes) return null
  // Other headers or a path may select another node's view.
  if (headers.length > 2 || path !== '') return null
  const [filter, ...others] = filterIn(call)
  if (typeof filter !== 'object' || filter === null || others.length > 0) return null
  if (!Object.keys(filter).every((name) => ownFields.has(name))) return null
  const { address, topics } = filter as Record<string, unknown>
  if (!Array.isArray(topics ?? [])) return null
  // The order within a position does not matter. A trailing position that accepts any topic still
  // demands that the log has one.
  const positions = [address, ...((topics ?? []) as unknown[])]
  const sets = positions.map((any) => [any ?? []].flat().map(String).toSorted())
  return hash('sha256', JSON.stringify(sets).toLowerCase(), 'base64url')
}
