// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type ChainView,
  differencesOf,
  isServing,
  type Look,
  type Traffic,
  type UpstreamView,
} from './differences.ts'
import { countsText, time } from './format.ts'

/** `down`: calls fail. `bad`: an upstream is out of service. `odd`: it serves, but not well. */
const severities = ['down', 'bad', 'odd'] as const

/** Something that is wrong; false or null: it is not. Since when, in ISO 8601, where that is known. */
type Finding = readonly [(typeof severities)[number], what: string | false | null, since?: string]

/** `ETH1 jsonrpc` or the address of a replica, the upstream where it is of one alone, and what was looked for. */
type Place = readonly [where: string, upstream: string | null, findings: readonly Finding[]]

/** Few failures are no outage: from so many on, and from this share of all. */
const failing = { count: 3, ofCalls: 0.02, ofAttempts: 0.1 } as const
/** Slower than the fastest other upstream of its chain by so much, and by at least 250 ms. */
const slow = { times: 4, seconds: 0.25, attempts: 5 } as const
/** A chain may pause for some blocks. */
const still = { blocks: 5, seconds: 30 } as const

/** What console and page show, and `--json` prints. */
export type View = ReturnType<typeof viewOf>

/** What lies between the looks, and what is wrong as lines for who was woken by it, the worst first. */
export function viewOf(looks: readonly Look[]) {
  const { at, seconds, replicas, chains } = differencesOf(looks)
  const places: Place[] = replicas.map(({ at: where, problem, refused }) => {
    const config = refused !== null && `its new config is refused: ${refused}`
    return [
      where,
      null,
      [
        ['down', problem],
        ['odd', config],
      ],
    ]
  })
  for (const chain of chains) {
    places.push([chain.name, null, ofChain(chain, at)])
    for (const each of chain.upstreams)
      places.push([chain.name, each.name, ofUpstream(each, chain.upstreams)])
  }
  const problems = severities.flatMap((severity) =>
    places.flatMap(([where, upstream, findings]) =>
      findings.flatMap(([rank, what, since = null]) =>
        rank === severity && what ? [{ severity, where, upstream, what, since }] : [],
      ),
    ),
  )
  return { at, seconds, replicas, problems, chains }
}

function ofChain(chain: ChainView, at: string): readonly Finding[] {
  const { upstreams, serving, blockSeconds, tip } = chain
  const [lastChange = ''] = upstreams.map(({ since }) => since).toSorted((a, b) => (a < b ? 1 : -1))
  const none = `none of ${upstreams.length} upstreams serves`
  const tipAgeSeconds = chain.tipAgeSeconds ?? 0
  const isStill = tipAgeSeconds > Math.max(still.seconds, still.blocks * blockSeconds)
  const roseAt = new Date(Date.parse(at) - tipAgeSeconds * 1_000).toISOString()
  const pause = `no new block after ${tip}, usually every ${blockSeconds} s`
  return [
    ['down', serving === 0 && none, lastChange],
    ['down', failures(chain, failing.ofCalls, 'calls')],
    ['bad', serving > 0 && isStill && pause, roseAt],
  ]
}

function ofUpstream(each: UpstreamView, all: readonly UpstreamView[]): readonly Finding[] {
  const { state, why, until, since, seenAt, count, p50Seconds } = each
  const isEligible = state === 'eligible'
  const some = seenAt.length < each.replicas ? ` at ${seenAt.join(', ')} alone` : ''
  const end = until === null ? '' : `; until ${until.slice(11, 19)} at the latest`
  const standing = `${state}${some}${why === null ? '' : `: ${why}`}${end}`
  const others = all.filter((other) => other !== each && other.state === 'eligible')
  const fastest = Math.min(...others.map((other) => other.p50Seconds ?? Infinity))
  const slowest = Math.max(fastest * slow.times, fastest + slow.seconds)
  const isSlow = count >= slow.attempts && (p50Seconds ?? 0) > slowest
  const slowness = `half of its answers take over ${time(p50Seconds)}, elsewhere ${time(fastest)}`
  // Clients that leave end attempts as well, but no more than hedges have won were overtaken by one.
  const won = others.reduce((sum, { hedgesWon }) => sum + hedgesWon, 0)
  const late = Math.min(each.aborted, won)
  const isLate = late >= failing.count && late >= count * failing.ofAttempts
  const lateness = `another upstream, asked as well, answered first in ${late} of ${count} attempts`
  const disputes = Object.entries(each.disputes).filter(([, times]) => times > 0)
  const doubts = disputes.map(([word, times]) => `${times} ${word}`).join(', ')
  return [
    ['odd', isEligible && why],
    [state === 'lagging' ? 'odd' : 'bad', !isEligible && standing, since],
    // Of one that is out of service the state says it already.
    ['odd', isServing(each) && failures(each, failing.ofAttempts, 'attempts')],
    ['odd', isSlow && `slow: ${slowness}`],
    ['odd', isLate && `late: ${lateness}`],
    ['odd', doubts !== '' && `its answers are doubtful: ${doubts}`],
  ]
}

/** `12 % of calls fail: timeout 8, no-upstream 3`; false where too few do. */
function failures({ errors, errorRatio, failed }: Traffic, share: number, what: string) {
  if (failed < failing.count || errorRatio === null || errorRatio < share) return false
  return `${Math.round(errorRatio * 100)} % of ${what} fail: ${countsText(errors, 3)}`
}
