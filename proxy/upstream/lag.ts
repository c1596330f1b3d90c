// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Sighting } from './tip.ts'

/** What is known of an upstream's head. */
export interface Standpoint {
  readonly latest: Sighting | null
  /** The chain's tip when `latest` was told; null where it was unknown. */
  readonly tipThen: number | null
}

/**
 * How many blocks an upstream is behind the tip: as many as when it told its latest block, and those
 * by which the tip has grown since then, beyond the usual pace of the chain. So one that was asked a
 * while ago, or just before a block came, is not taken for slow, and one that was heard of before the
 * others is.
 * @returns 0 while its head or the tip is unknown
 */
export function lagOf(
  { latest, tipThen }: Standpoint,
  tip: number | null,
  nowMs: number,
  blockTimeMs: number,
): number {
  if (latest === null || tip === null) return 0
  const then = tipThen ?? latest.block
  const growth = tip - then
  const usual = Math.ceil((nowMs - latest.atMs) / blockTimeMs)
  return Math.max(0, then - latest.block + Math.min(growth, Math.max(0, growth - usual)))
}
