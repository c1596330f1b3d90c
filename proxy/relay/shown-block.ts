// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../chain/finality.ts'
import type { ResultPath } from '../chain/types.ts'
import { valueAt } from '../json/value-at.ts'
import { toNumber } from '../integrity/values.ts'
import { type Dialect, readBlockNumber } from '../upstream/dialect.ts'
import type { Incoming } from '../upstream/wire.ts'
import type { NodeUrl } from '../upstream/upstream.ts'
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

/**
 * The head that an answer shows of its node: of one about the latest block its number, of another one a number above
 * the head that is known.
 */
export function shownHead(
  { asked, reader }: Call,
  incoming: Incoming,
  head: NodeUrl['head'],
  dialect: Dialect,
): number | null {
  const { tellsTip, showsBlock, block } = asked
  const place = tellsTip ?? showsBlock
  if (!place || !(incoming.body instanceof Uint8Array)) return null
  const known = tellsTip === null ? (head?.block ?? Infinity) : -1
  // About the past: most of such calls are.
  if ((lastPoint(block) ?? Infinity) <= known) return null
  const shown = shownBlock(incoming, reader.findingOf?.(incoming) ?? null, place, dialect)
  return shown !== null && shown > known ? shown : null
}
