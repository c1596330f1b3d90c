// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { methodText } from '../telemetry/call-trouble.ts'
import { countsText } from '../telemetry/format.ts'
import { type Counts, totalOf } from '../telemetry/trouble.ts'
import { clientsOf } from './clients.ts'
import type { Facts } from './facts.ts'
import { only, type Part } from './parts.ts'

/*
 * Problems that the error ratio does not show: node errors and refusals.
 */

/** Thresholds for the most frequent reason of refusals in the last minute. */
const refusing = { count: 10, share: 0.05, afterConfigMs: 60_000 } as const

/** Methods that fail at any replica. */
export function failingMethods(all: readonly Part<Facts>[]) {
  const flat = all.flatMap(({ replica, methods }) => methods.map((each) => ({ ...each, replica })))
  const groups = Map.groupBy(flat, ({ name, method }) => `${name} ${method}`)
  return [...groups.values()].map((group) => {
    const same = group.toSorted((a, b) => (a.since < b.since ? -1 : 1))
    const [first] = same as [(typeof same)[number]]
    const failed = same.reduce((sum, each) => sum + each.failed, 0)
    const calls = same.reduce((sum, each) => sum + each.calls, 0)
    return { ...first, what: methodText({ ...first, failed, calls }) + only(same, all) }
  })
}

interface Refused {
  /** Of the chain and interface. */
  readonly name: string
  /** Refusals of the last minute that clients caused, by reason. */
  readonly refusals: Counts
  /** Calls of that minute, and requests that were refused before they became calls. */
  readonly requests: number
}

/**
 * What is refused, such as `93 % of requests are refused: method-denied 900, the last:
 * eth_getLogs is denied; all from 10.0.0.7 viem/2`, and since when; null below the thresholds.
 */
export function refusalOf(
  { name, refusals, requests }: Refused,
  all: readonly Part<Facts>[],
): { readonly what: string; readonly since: string | null } | null {
  const [reason, ofReason] = most(refusals)
  if (ofReason < refusing.count || ofReason < refusing.share * requests) return null
  const count = totalOf(refusals)
  const refused = all.flatMap((each) => each.refused[`${name} ${reason}`] ?? [])
  const [{ since, last } = { since: null, last: '' }] = refused.toSorted((a, b) =>
    a.since < b.since ? -1 : 1,
  )
  const reload = all.find(({ config, started }) => {
    const afterMs = Date.parse(since ?? '') - Date.parse(config.since)
    return config.since > started && afterMs >= 0 && afterMs < refusing.afterConfigMs
  })
  const { perMinute, clients } = clientsOf(all).refusals
  const [client] = clients
  // The list of clients covers all chains.
  const others = perMinute - (client?.perMinute ?? 0)
  const from = others <= 0 ? 'all' : others < count / 2 ? 'most' : null
  const clauses = [
    `${Math.round((count / requests) * 100)} % of requests are refused: ${countsText(refusals)}`,
    last && `, the last: ${last}`,
    reload ? `; since the config of ${reload.config.since.slice(11, 19)}` : '',
    client && from ? `; ${from} from ${client.address} ${client.userAgent ?? ''}` : '',
  ]
  return { what: clauses.join('').trimEnd(), since }
}

function most(counts: Counts): readonly [word: string, count: number] {
  return Object.entries(counts).toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0]
}
