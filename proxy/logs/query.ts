// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { BlockPoint, Chain } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { parseJson } from '../json/scanner.ts'
import type { Call, LogsNote, RelayObserver } from '../relay/call.ts'
import type { Relay } from '../relay/relay.ts'
import type { Density, RangeLimits } from './limits.ts'
import type { Range } from './log-list.ts'
import type { Slices } from './slices.ts'

/** A query for the logs of a range. */
export interface LogsQuery {
  readonly call: Call
  readonly range: Range
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
 * The blocks of a query, up to the head. Null if only the node can tell them: another tag, an empty
 * range, or blocks above the head.
 */
export function rangeOf({ method: { block } }: Call, head: number): Range | null {
  if (block.kind !== 'range') return null
  const from = heightOf(block.from, head)
  const to = heightOf(block.to, head)
  return from <= Math.min(to, head) ? { from, to: Math.min(to, head) } : null
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

/**
 * Digest of the addresses and topics of a query, equal for filters that select the same logs. Null
 * for a filter with other members, or in an unusual form.
 */
export function filterOf({ request: { body, path, headers } }: Call): string | null {
  if (!(body instanceof Uint8Array) || body.length > maxFilterBytes) return null
  // Other headers or a path may select another node's view.
  if (headers.length > 2 || path !== '') return null
  const { params } = (parseJson(body) ?? {}) as { params?: unknown }
  const [filter, ...others] = Array.isArray(params) ? (params as unknown[]) : []
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
