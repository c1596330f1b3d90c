// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import { type ConfigState, timeOf } from '../telemetry/config-state.ts'
import type { CallHistory } from '../telemetry/explain/call-history.ts'
import type { Health } from '../telemetry/health.ts'
import type { CallTroubles } from '../telemetry/call-trouble.ts'
import type { RecentCounts } from '../telemetry/recent-counts.ts'
import type { Troubles } from '../telemetry/trouble.ts'

/*
 * The page `/facts` of the admin address, the source of `router top` and of the page `/`. Contains
 * no keys in URLs and no params.
 */
export type Facts = Awaited<ReturnType<ReturnType<typeof createFacts>>>
export type ChainFacts = Facts['chains'][number]
export type UpstreamFacts = ChainFacts['upstreams'][number]
export type FailedCall = Facts['failed'][number]

interface FactsOptions {
  readonly counts: Pick<RecentCounts, 'read'>
  readonly health: Pick<Health, 'look' | 'stores' | 'resources' | 'clients'>
  readonly troubles: Pick<Troubles, 'since' | 'methods'>
  readonly callTroubles: Pick<CallTroubles, 'methods' | 'refused'>
  readonly calls: Pick<CallHistory, 'list'>
  readonly config: Pick<ConfigState, 'facts'>
  readonly clock: Clock
  /** Addresses at which clients reach a chain and interface. */
  readonly addresses: (chain: string, apiInterface: string) => readonly string[]
}

/** Reads the facts from existing metric series, without extra counters. */
export function createFacts(options: FactsOptions) {
  const { counts, health, troubles, callTroubles, calls, config, clock, addresses } = options
  const started = timeOf(clock.wallMs())
  return async () => ({
    /** Times are in ISO 8601. */
    at: timeOf(clock.wallMs()),
    /** A different value means that the process restarted, and its counters with it. */
    started,
    /** The active config. `refused` says why the files are not active; null while they are. */
    config: config.facts,
    /** Failing stores, and since when they fail. */
    stores: [...health.stores.values()],
    /** Resources that the router itself lacks, and since when. */
    shortages: health.resources.shortages,
    /** One entry per chain and interface, such as `ETH1 jsonrpc`, with its addresses. */
    chains: health.look().map(({ pool, name, isOnBackup, ...at }) => {
      return { ...pool, name, isOnBackup, addresses: addresses(at.chain, at.interface) }
    }),
    ...(await counts.read()),
    /** Since when upstreams work only in part, by their key, such as `ETH1 jsonrpc node-a`. */
    troubledSince: troubles.since,
    /** The method of nearly all their bad attempts, by the same keys. */
    troubledMethods: troubles.methods,
    /** Methods for which nearly all calls return node errors. */
    methods: callTroubles.methods,
    /** Ongoing refusals, by pool and reason. */
    refused: callTroubles.refused,
    /** The clients with the most calls, errors and refusals in the last minute. */
    clients: health.clients.top(),
    failed: failedCalls(calls),
  })
}

/** Latest failed calls, newest first: a summary of `/explain?failed`. */
function failedCalls(calls: Pick<CallHistory, 'list'>) {
  return calls.list('failed', 20).calls.map(({ error, attempts, ...call }) => {
    const { guid, at, chain, interface: iface, method, outcome, totalMs } = call
    const results = attempts.map(({ upstream, result }) => `${upstream} ${result}`)
    const why = error ?? results.join('; ')
    return { guid, at, chain, interface: iface, method, outcome, totalMs, why }
  })
}
