// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lastPoint } from '../chain/finality.ts'
import type { ResultPath } from '../chain/types.ts'
import { spells } from '../json/scanner.ts'
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

/** What an answer reveals about the chain. */
export interface Revealed {
  readonly block: number
  /** The block is the node's head. Otherwise the node may know the block before it has the block's state. */
  readonly isHead: boolean
}

/**
 * The block that an answer shows. An answer about the latest block shows the node's head; any other counts only above
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

export function isNull(finding: Finding | null, body: Uint8Array): boolean {
  if (finding?.kind !== 'result') return spells(body, 0, body.length, 'null')
  return finding.isNull === true || finding.parsed === null
}

/** Longer answers are not empty. */
const maxNothingBytes = 1024

/** Whether an answer is a list, a page or a message without items. */
export function isNothing(incoming: Incoming, finding: Finding | null, dialect: Dialect): boolean {
  const { body } = incoming
  if (finding?.kind === 'result' && finding.parsed !== undefined)
    return holdsNothing(finding.parsed)
  if (!(body instanceof Uint8Array) || body.length > maxNothingBytes) return false
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' && holdsNothing(said.at({ path: [], encoding: 'text' }))
}

/** An empty list, an empty message, or a page: an object with lists, all of them empty. A value of zero is a value. */
function holdsNothing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === ''
  return (hasList(value) || Object.keys(value).length === 0) && isBlank(value)
}

function hasList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.values(value).some(hasList)
}

/** A page also has a count and the key of the next page. */
function isBlank(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isBlank)
  return value === null || value === '' || value === 0 || value === '0'
}
