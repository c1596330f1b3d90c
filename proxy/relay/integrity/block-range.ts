// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef } from '../../chain/types.ts'
import { bareHash } from './values.ts'

/** What was asked about, and how high the answer may be. */
export interface HeightAsked {
  readonly block: BlockRef
  /** The upstream has no block above this one yet; null: nobody knows. */
  horizon(): number | null
}

/** What a request says of the blocks that its answer may come from. */
export interface BlockRange {
  /** Lowest and highest height; infinite where a tag stands. */
  readonly from: number
  readonly to: number
  /** The one block, as `bareHash`; null where the request names none by its hash. */
  readonly hash: string | null
}

/** What is known of the blocks asked about, whatever a tag may stand for at the node. */
export function blockRangeOf(asked: BlockRef): BlockRange {
  const open = { from: -Infinity, to: Infinity, hash: null }
  if (asked.kind === 'number') return { ...open, from: asked.number, to: asked.number }
  if (asked.kind === 'hash') return { ...open, hash: bareHash(asked.hash) }
  if (asked.kind !== 'range') return open
  const { from, to } = asked
  return {
    from: from.kind === 'number' ? from.number : -Infinity,
    to: to.kind === 'number' ? to.number : Infinity,
    hash: null,
  }
}

/** `5`, `5 to 9`, `5 or later`, ... */
export function shownRange({ from, to, hash }: BlockRange): string {
  if (hash !== null) return `0x${hash}`
  if (from === to) return String(from)
  if (to === Infinity) return `${from} or later`
  return from === -Infinity ? `${to} or earlier` : `${from} to ${to}`
}

/** A block that is still to come may be meant. What is no block the node explains. */
export function mayPend(asked: BlockRef): boolean {
  if (asked.kind === 'range') return mayPend(asked.from) || mayPend(asked.to)
  return asked.kind === 'tag' ? asked.tag === 'pending' : asked.kind === 'invalid'
}
