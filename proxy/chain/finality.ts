// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRef, Chain } from './types.ts'

/** Where the spec names a tag: Ethereum usually finalizes within three epochs. */
const usualDepth = 128

/**
 * What a call is about never changes. A tag moves: nodes differ about which block is the finalized one.
 *
 * @param tip the latest block; null while it is unknown
 */
export function isFinal(
  block: BlockRef,
  tip: number | null,
  { finality }: Pick<Chain, 'finality'>,
): boolean {
  const last = block.kind === 'range' ? block.to : block
  if (last.kind === 'tag') return last.tag === 'earliest'
  if (last.kind !== 'number' || tip === null) return false
  return last.number <= tip - (typeof finality === 'number' ? finality : usualDepth)
}
