// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { countsText, time } from './format.ts'
import {
  isServing,
  type ChainView,
  type Problem,
  type Replica,
  type Traffic,
  type UpstreamView,
} from './view.ts'

const severities = ['down', 'bad', 'odd']

/** Few failures are no outage: from so many on, and from this share of all. */
const failing = { count: 3, ofCalls: 0.02, ofAttempts: 0.1 } as const
/** Slower than the fastest other upstream of its chain by so much, and by at least 250 ms. */
const slow = { times: 4, seconds: 0.25, attempts: 5 } as const
/** A chain may pause for some blocks. */
const still = { blocks: 5, seconds: 30 } as const

/** What is wrong, the worst first. @param at when, for times that are counted back from it */
export function problemsOf(
  replicas: readonly Replica[],
  chains: readonly ChainView[],
  at: string,
): readonly Problem[] {
  const found = chains.flatMap((chain) => ofChain(chain, at))
  for (const { at: where, problem, refused } of replicas.toReversed()) {
    const about = { where, upstream: null, since: null }
    const what = `its new config is refused: ${refused}`
    if (refused !== null) found.unshift({ ...about, severity: 'odd', what })
    if (problem !== null) found.unshift({ ...about, severity: 'down', what: problem })
  }
  const rank = ({ severity }: Problem) => severities.indexOf(severity)
  return found.toSorted((a, b) => rank(a) - rank(b))
}

function ofChain(chain: ChainView, at: string): Problem[] {
  const where = `${chain.chain} ${chain.interface}`
  const { upstreams, serving, tipAgeSeconds, blockSeconds } = chain
  const problem = (severity: Problem['severity'], what: string, since: string | null = null) => {
    return { severity, where, upstream: null, what, since }
  }
  const found: Problem[] = []
  if (serving === 0) {
    const times = upstreams.map(({ since }) => since).toSorted()
    const why = chain.breakerOpen ? ', calls fail at once' : ''
    found.push(problem('down', `none of ${upstreams.length} upstreams serves${why}`, times.at(-1)))
  }
  if (isFailing(chain, failing.ofCalls)) found.push(problem('down', failures(chain, 'calls')))
  if (tipAgeSeconds !== null && serving > 0) {
    const isStill = tipAgeSeconds > Math.max(still.seconds, still.blocks * blockSeconds)
    const since = new Date(Date.parse(at) - tipAgeSeconds * 1_000).toISOString()
    const what = `no new block after ${chain.tip}, usually every ${blockSeconds} s`
    if (isStill) found.push(problem('bad', what, since))
  }
  return [...found, ...upstreams.flatMap((each) => ofUpstream(each, upstreams, where))]
}

function ofUpstream(
  each: UpstreamView,
  all: readonly UpstreamView[],
  where: string,
): readonly Problem[] {
  const found: Problem[] = []
  const add = (severity: Problem['severity'], what: string, since: string | null = null) =>
    found.push({ severity, where, upstream: each.name, what, since })
  const { state, replicas } = each
  if (state === 'eligible' && each.why !== null) add('odd', each.why)
  if (state !== 'eligible') {
    const { so } = replicas
    const some = so.length < replicas.all ? ` at ${so.join(', ')} alone` : ''
    const why = each.why === null ? '' : `: ${each.why}`
    const until = each.until === null ? '' : `; until ${each.until.slice(11, 19)} at the latest`
    add(state === 'lagging' ? 'odd' : 'bad', `${state}${some}${why}${until}`, each.since)
  }
  // Of one that is out of service the state says it already.
  if (isServing(each) && isFailing(each, failing.ofAttempts)) add('odd', failures(each, 'attempts'))
  const others = all.filter((other) => other !== each && other.state === 'eligible')
  const fastest = Math.min(...others.map(({ p50Seconds }) => p50Seconds ?? Infinity))
  const { p50Seconds } = each
  if (
    p50Seconds !== null &&
    each.count >= slow.attempts &&
    p50Seconds > fastest * slow.times &&
    p50Seconds > fastest + slow.seconds
  )
    add(
      'odd',
      `slow: half of its answers take over ${time(p50Seconds)}, elsewhere ${time(fastest)}`,
    )
  // Clients that leave end attempts as well, but no more than hedges have won were overtaken by one.
  const won = others.reduce((sum, { hedgesWon }) => sum + hedgesWon, 0)
  const overtaken = Math.min(each.aborted, won)
  if (overtaken >= failing.count && overtaken >= each.count * failing.ofAttempts)
    add(
      'odd',
      `late: another upstream, asked as well, answered first in ${overtaken} of ${each.count} attempts`,
    )
  const disputes = Object.entries(each.disputes).filter(([, count]) => count > 0)
  const words = disputes.map(([word, count]) => `${count} ${word}`).join(', ')
  if (words) add('odd', `its answers are doubtful: ${words}`)
  return found
}

function isFailing({ errors, errorRatio }: Traffic, share: number): boolean {
  const failed = errors.reduce((sum, [, count]) => sum + count, 0)
  return failed >= failing.count && (errorRatio ?? 0) >= share
}

/** `12 % of calls fail: timeout 8, no-upstream 3`. */
function failures({ errors, errorRatio }: Traffic, what: string): string {
  return `${Math.round((errorRatio ?? 0) * 100)} % of ${what} fail: ${countsText(errors.slice(0, 3))}`
}
