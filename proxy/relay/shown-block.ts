// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../chain/finality.ts'
import type { ResultPath } from '../chain/types.ts'
import { valueAt } from '../json/value-at.ts'
import { toNumber } from '../integrity/values.ts'
import { type Dialect, readBlockNumber } from '../upstream/dialect.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { Call } from './call.ts'
import type { Finding } from './reply.ts'

/**
 * The number of the block that an answer shows.
 * @param finding what the answer is; null where nothing is remembered of it
 * @returns null where it shows none, or would have to be parsed for it and is too long
 */
export function shownBlock(
  incoming: Incoming,
  finding: Finding | null,
  place: ResultPath,
  dialect: Dialect,
): number | null {
  // Parsed for a check already.
  if (finding?.kind === 'result' && finding.parsed !== undefined && place.header === undefined)
    return toNumber(valueAt(finding.parsed, place.path))
  return readBlockNumber(dialect, incoming, place)
}

/** What an answer reveals of the chain. */
export interface Revealed {
  readonly block: number
  /** Its node has the block as its latest; else a block that the node may know of before it has its state. */
  readonly isHead: boolean
}

/**
 * The block that an answer shows: one about the latest block shows its node's head, any other counts only above
 * `known`.
 * @param known the highest block that clients may have seen
 */
export function revealedBy(
  { asked, reader }: Call,
  incoming: Incoming,
  known: number,
  dialect: Dialect,
): Revealed | null {
  const { tellsTip, showsBlock, block } = asked
  const place = tellsTip ?? showsBlock
  if (!place || !(incoming.body instanceof Uint8Array)) return null
  const isHead = tellsTip !== null
  // Most calls are about the past.
  if (!isHead && (lastPoint(block) ?? Infinity) <= known) return null
  const shown = shownBlock(incoming, reader.findingOf?.(incoming) ?? null, place, dialect)
  return shown !== null && (isHead || shown > known) ? { block: shown, isHead } : null
}
