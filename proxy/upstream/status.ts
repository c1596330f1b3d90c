// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, ProbeCall } from '../chain/types.ts'
import type { SyncStatus } from '../tracker/tip.ts'
import { probe, type ProbeOptions } from './probe.ts'
import type { NodeUrl } from './upstream.ts'

/** The failure class of a node that says so instead of answering (`specs/failures/solana.yml`). */
const nodeBehind = 'node-behind'

/** Asks a URL whether its node is syncing, and for the time of its latest block. A node need not know either. */
export async function askStatus(
  url: NodeUrl,
  { syncing, latestTime }: Pick<ChainInterface, 'syncing' | 'latestTime'>,
  options: ProbeOptions,
): Promise<SyncStatus> {
  const ask = async (call: ProbeCall | null) => {
    if (!call || url.cooldown.active) return null
    const answer = await probe(url, call, options)
    if (answer.kind === 'limited') url.cooldown.begin(answer.retryAfterMs)
    return answer
  }
  const progress = await ask(syncing)
  const time = await ask(latestTime)
  let isSyncing: boolean | null = null
  if (progress?.kind === 'value') isSyncing = isYes(progress.value)
  else if (progress && 'failure' in progress && progress.failure?.name === nodeBehind)
    isSyncing = true
  const madeMs = time?.kind === 'value' ? toTimeMs(time.value) : null
  const { clock } = options
  return { isSyncing, ageMs: madeMs === null ? null : clock.wallMs() - madeMs, atMs: clock.nowMs() }
}

/** The spellings of `true` on all interfaces. */
const yes: readonly unknown[] = [true, 'true', 1, '1']

/** An object describes the progress of a node that is syncing. */
function isYes(value: unknown): boolean {
  return typeof value === 'object' || yes.includes(value)
}

/** Units of timestamps by the largest value, in seconds, that each can be told apart from. */
const unitsMs: readonly (readonly [atLeast: number, unitMs: number])[] = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [0, 1_000],
]

/** A node's timestamp: RFC 3339, or a number in hex or decimal, of seconds down to nanoseconds. @returns null for none */
export function toTimeMs(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const isNumber = /^(?:0x[0-9a-f]+|\d+)$/i.test(text)
  const number = isNumber ? Number(text) : Date.parse(text)
  if (!Number.isFinite(number) || number <= 0) return null
  if (!isNumber) return number
  const [, unitMs = 1] = unitsMs.find(([atLeast]) => number >= atLeast) ?? []
  return number * unitMs
}
