// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ClientCall } from './client-call.ts'
import type { Exchange } from './client-call.ts'

/** Counts by name. */
export type Counts = Record<string, number>

/** What was done in one simulation, or in many. */
export interface Tally {
  schedules: number
  requests: number
  exchanges: number
  virtualMs: number
  readonly outcomes: Counts
  /** What ailed the upstreams, once per request that it struck. */
  readonly faults: Counts
}

export function emptyTally(): Tally {
  return { schedules: 0, requests: 0, exchanges: 0, virtualMs: 0, outcomes: {}, faults: {} }
}

export function countExchange(tally: Tally, { fate }: Exchange): void {
  tally.exchanges += 1
  if (fate.kind === 'lie') count(tally.faults, `lie: ${fate.lie}`)
  else if (fate.kind === 'ill') count(tally.faults, fate.illness)
}

export function countCall(tally: Tally, client: ClientCall): void {
  tally.requests += 1
  count(tally.outcomes, outcomeOf(client))
}

export function addTally(sum: Tally, more: Tally): void {
  sum.schedules += more.schedules
  sum.requests += more.requests
  sum.exchanges += more.exchanges
  sum.virtualMs += more.virtualMs
  addCounts(sum.outcomes, more.outcomes)
  addCounts(sum.faults, more.faults)
}

export function addCounts(sum: Counts, more: Counts): void {
  for (const [name, times] of Object.entries(more)) count(sum, name, times)
}

/** How a call ended, in a word or two. */
export function outcomeOf({ outcome, call }: ClientCall): string {
  if (outcome === null) return 'never ended'
  if (outcome.kind === 'error') return outcome.error.kind.reason
  if (outcome.kind !== 'reply') return outcome.kind
  if (outcome.reply.refusal !== null) return 'node error'
  const last = call.journal.attempts.find(
    ({ upstream, result }) => upstream === outcome.reply.upstream && result === 'answer',
  )
  return last ? 'answer' : 'upstream error'
}

function count(counts: Counts, name: string, times = 1): void {
  counts[name] = (counts[name] ?? 0) + times
}
