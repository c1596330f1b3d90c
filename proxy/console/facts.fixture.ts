// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainFacts, Counts, Facts, Tables, UpstreamFacts } from './facts.ts'

/** Seconds after the start of the process as a time of the day. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 31, 3) + seconds * 1_000).toISOString()
}

/** Durations: so many up to 0.1 s, so many more up to 1 s, to 10 s, and above. */
export function took(fast: number, slow = 0, slower = 0, above = 0): Counts {
  const [second, third] = [fast + slow, fast + slow + slower]
  return { 0.1: fast, 1: second, 10: third, '+Inf': third + above }
}

export function someFacts(seconds: number, chains: readonly ChainFacts[], more = {}): Facts {
  return {
    ...{ at: at(seconds), started: at(0), version: '1.2.3' },
    config: { sha256: 'ab12', since: at(0), refused: null },
    chains,
    ...more,
  }
}

/** @param more and of its counts: `outcomes`, `durations`, `cache` */
export function someChain(
  upstreams: readonly UpstreamFacts[],
  { outcomes = {}, durations = took(0), cache = {}, ...more }: Partial<ChainFacts> & Some = {},
): ChainFacts {
  return {
    ...{ name: 'ETH1 jsonrpc', addresses: ['0.0.0.0:3360'] },
    ...{ tip: 100, tipAgeSeconds: 3, blockSeconds: 12 },
    ...{ counts: { outcomes, durations, cache }, upstreams },
    ...more,
  }
}
type Some = Partial<Record<'outcomes' | 'durations' | 'cache', Counts>>

/** @param more and of its counts: `attempts` by their kind, `durations`, `disputes` */
export function someUpstream(
  name: string,
  { attempts = {}, durations = took(0), disputes = {}, ...more }: Partial<UpstreamFacts> & Own = {},
): UpstreamFacts {
  const byWord = Object.entries(attempts).flatMap(([kind, results]) =>
    Object.entries(results).map(([result, count]) => [`${kind} ${result}`, count]),
  )
  const tables = Object.entries(disputes).map(([table, count]) => [table, { any: count }])
  return {
    ...{ name, tier: 'primary', state: 'eligible', why: null, since: at(0), until: null },
    ...{ latestBlock: 100, lagBlocks: 0, lagSeconds: 0, cooldownSeconds: null },
    counts: { attempts: Object.fromEntries(byWord), durations, ...Object.fromEntries(tables) },
    ...more,
  }
}
interface Own {
  readonly attempts?: Tables
  readonly durations?: Counts
  readonly disputes?: Counts
}
