// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, DataKind, ProbeCall } from '../chain/types.ts'
import type { SyncStatus } from '../tracker/tip.ts'
import { toBlockNumber } from './dialect.ts'
import { probe, type ProbeAnswer, type ProbeOptions } from './probe.ts'
import { settle } from './outcome.ts'
import type { NodeUrl } from './node-url.ts'

/** Failure class of a node that reports lag instead of answering (`specs/failures/solana.yml`). */
const nodeBehind = 'node-behind'

/** Queries sync status, latest block and, once, oldest block. A node may support none of them. */
export async function askStatus(
  url: NodeUrl,
  iface: Pick<ChainInterface, 'syncing' | 'latestTime' | 'oldestBlock'>,
  options: ProbeOptions,
): Promise<SyncStatus> {
  // Some families answer several of these calls with one request.
  const answers = new Map<string, ProbeAnswer>()
  const ask = async (call: ProbeCall | null): Promise<ProbeAnswer | null> => {
    if (!call || url.cooldown.active) return null
    const request = `${call.path} ${call.body}`
    const known = answers.get(request)
    if (known?.kind === 'value') return { ...known, value: known.at(call.result) }
    const answer = await probe(url, call, options)
    if (answer.kind === 'limited') settle('limited', null, url, { ...answer, reason: answer.why })
    answers.set(request, answer)
    return answer
  }
  const progress = await ask(iface.syncing)
  const time = await ask(iface.latestTime)
  // The oldest block moves slowly, so one query per health check is enough.
  const past = url.history.isQueried ? null : await ask(iface.oldestBlock)
  if (past) url.history.isQueried = true
  const { oldestBlock } = iface
  if (oldestBlock && past?.kind === 'value' && url.verified === true) {
    const { kinds, result } = oldestBlock
    const report = (kind: DataKind, value: unknown) => {
      const oldest = toBlockNumber(value, result.encoding)
      if (oldest !== null) url.history.reported(kind, oldest)
    }
    report('blocks', past.value)
    for (const [kind, path] of Object.entries(kinds))
      report(kind as DataKind, past.at({ path, encoding: 'text' }))
  }
  let isSyncing: boolean | null = null
  if (progress?.kind === 'value') isSyncing = isTrue(progress.value)
  else if (progress && 'failure' in progress && progress.failure?.name === nodeBehind)
    isSyncing = true
  const madeMs = time?.kind === 'value' ? toTimeMs(time.value) : null
  const { clock } = options
  return { isSyncing, ageMs: madeMs === null ? null : clock.wallMs() - madeMs, atMs: clock.nowMs() }
}

/** The spellings of `true` on all interfaces. */
const trueValues: readonly unknown[] = [true, 'true', 1, '1']

/** An object describes the progress of a syncing node. */
function isTrue(value: unknown): boolean {
  return typeof value === 'object' || trueValues.includes(value)
}

/** Units of timestamps, by the smallest value that each applies to. */
const unitsMs: readonly (readonly [atLeast: number, unitMs: number])[] = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [0, 1_000],
]

/** Parses RFC 3339, or a hex or decimal number from seconds to nanoseconds; null if invalid. */
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
