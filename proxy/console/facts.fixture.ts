// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Counts, growthOf } from '../telemetry/trouble.ts'
import type { ChainFacts, Facts, UpstreamFacts } from './facts.ts'
import type { Look } from './view.ts'

type Tables = Readonly<Record<string, Counts>>
/** An upstream with its share of the process's counters. */
type SomeUpstream = UpstreamFacts & { readonly counts: Tables }
/** A chain with its share of the counters. */
export type SomeChain = Omit<ChainFacts, 'upstreams'> & {
  readonly counts: Tables
  readonly upstreams: readonly SomeUpstream[]
}

export const noTroubles = { methods: [], refused: {} }
export const noClients = { perMinute: 0, clients: [] }

/** The time of day at this many seconds after the start of the process. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 31, 3) + seconds * 1_000).toISOString()
}

/** Durations, as counts: up to 0.1 s, up to 1 s, up to 10 s, and above. */
export function took(fast: number, slow = 0, slower = 0, above = 0): Counts {
  const [second, third] = [fast + slow, fast + slow + slower]
  return { 0.1: fast, 1: second, 10: third, '+Inf': third + above }
}

function without<T extends { readonly counts: Tables }>(one: T): Omit<T, 'counts'> {
  const { counts: _, ...rest } = one
  return rest
}

export function someFacts(
  seconds: number,
  chains: readonly SomeChain[],
  more: Partial<Facts> = {},
): Facts {
  const counts = chains.flatMap((chain) => [
    ...Object.entries(chain.counts).map(([table, own]) => [`${chain.name} ${table}`, own]),
    ...chain.upstreams.flatMap((each) =>
      Object.entries(each.counts).map(([table, own]) => [
        ...[`${chain.name} ${each.name} ${table}`, own],
      ]),
    ),
  ])
  return {
    ...{ at: at(seconds), started: at(0), stores: [], shortages: [], failed: [] },
    config: { sha256: 'ab12', since: at(0), refused: null },
    chains: chains.map((chain) => {
      return { ...without(chain), upstreams: chain.upstreams.map(without) }
    }),
    counts: Object.fromEntries(counts) as Facts['counts'],
    clients: { calls: noClients, errors: noClients, refusals: noClients },
    minute: { seconds, counts: growthOf(Object.fromEntries(counts) as Facts['counts'], {}) },
    recent: growthOf(Object.fromEntries(counts) as Facts['counts'], {}),
    ...{ troubledSince: {}, troubledMethods: {}, ...noTroubles },
    ...more,
  }
}

/** The answer of one replica. @param before all zero by default */
export function someLook(now: Facts | string, before = someFacts(0, []), name = 'one:7779'): Look {
  return typeof now === 'string'
    ? { at: name, facts: null, problem: now }
    : {
        ...{ at: name, problem: null },
        facts: {
          ...now,
          minute: {
            seconds: (Date.parse(now.at) - Date.parse(before.at)) / 1_000,
            counts: growthOf(now.counts, before.counts),
          },
          recent: growthOf(now.counts, before.counts),
        },
      }
}

/** @param more also its counters: `outcomes`, `durations`, `cache`, `refused` */
export function someChain(
  upstreams: readonly SomeUpstream[],
  {
    outcomes = {},
    durations = took(0),
    cache = {},
    refused = {},
    ...more
  }: Partial<ChainFacts> & Some = {},
): SomeChain {
  return {
    ...{ name: 'ETH1 jsonrpc', addresses: ['0.0.0.0:3360'] },
    ...{ tip: 100, tipAgeMs: 3_000, blockTimeMs: 12_000, reorgs: null },
    isOnBackup: false,
    ...more,
    ...{ counts: { outcomes, durations, cache, refused }, upstreams },
  }
}
type Some = Partial<Record<'outcomes' | 'durations' | 'cache' | 'refused', Counts>>

/** @param more also its counters: `attempts` by kind, `byUrl`, `durations`, `disputes` */
export function someUpstream(
  name: string,
  { attempts = {}, byUrl = {}, durations = took(0), disputes = {}, ...more }: Own = {},
): SomeUpstream {
  const byWord = Object.entries(attempts).flatMap(([kind, results]) =>
    Object.entries(results).map(([result, count]) => [`${kind} ${result}`, count]),
  )
  const known = {
    ...{ name, tier: 'primary', state: 'eligible', why: null, since: at(0), until: null },
    ...{ latestBlock: 100, lagBlocks: 0, lagSeconds: 0, oldestBlocks: {}, cooldownLeftMs: null },
    ...{ sessions: 0, urls: [], urlsInCooldown: 0, latencyMs: null, score: null, fault: null },
    ...{ verifications: [], qualities: null },
    ...{ isDayUsed: false, methodLimits: [], learnedPerSecond: null, learnedLogBlocks: null },
    ...more,
  } as UpstreamFacts
  const counts = { attempts: Object.fromEntries(byWord), urls: byUrl, durations, disputes }
  return { ...known, counts }
}
interface Own extends Partial<Omit<UpstreamFacts, 'state' | 'tier'>> {
  readonly state?: string
  readonly tier?: string
  readonly attempts?: Tables
  /** By position and result, such as `2 failed`. */
  readonly byUrl?: Counts
  readonly durations?: Counts
  readonly disputes?: Counts
}
