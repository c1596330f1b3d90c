// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import { aligned, clean, time } from '../format.ts'
import type { ExplainedAttempt, ExplainedCall, ExplainedCandidate } from './explained.ts'
import type { KeptCalls } from './kept-calls.ts'

const usualLimit = 20
const keys = ['failed', 'slow', 'limit', 'format']

/** Answers `/explain`, and `/explain/<guid>`. It only reads. @param guid null for a list */
export function explainPage(
  kept: Pick<KeptCalls, 'find' | 'list' | 'extent'>,
  guid: string | null,
  query: Readonly<Record<string, unknown>>,
) {
  const refused = (status: 400 | 404, why: string) => ({ status, isText: true, body: `${why}\n` })
  const unknown = Object.keys(query).find((key) => !keys.includes(key))
  if (unknown !== undefined)
    return refused(400, `${clean(unknown).slice(0, 50)} is not known; there is ${keys.join(', ')}`)
  const { limit: asked = usualLimit, format = 'json' } = query
  const limit = Number(asked)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= explainLimits.listed))
    return refused(400, `limit must be a whole number from 1 to ${explainLimits.listed}`)
  if (format !== 'text' && format !== 'json') return refused(400, 'format must be text or json')
  const kind = 'failed' in query ? 'failed' : 'slow' in query ? 'slow' : 'recent'
  const explained = guid === null ? kept.list(kind, limit) : kept.find(guid)
  const { calls, more } = explained
  const extent = `kept are ${kept.extent}`
  if (guid !== null && calls.length === 0)
    return refused(404, `no call has this guid here; ${extent}`)
  if (format === 'json') return { status: 200, isText: false, body: JSON.stringify(explained) }
  const parts = calls.map(guid === null ? lineOf : textOf)
  if (calls.length === 0) parts.push(`no call; ${extent}`)
  if (more > 0) parts.push(`and ${more} more`)
  return { status: 200, isText: true, body: `${parts.join(guid === null ? '\n' : '\n\n')}\n` }
}

const ms = (amount: number) => time(amount / 1_000)
const names = (list: readonly string[]) => list.join(', ') || 'none'
const nameOf = (call: ExplainedCall) =>
  `${call.chain} ${call.interface} ${call.method ?? '(refused before it became a call)'}`

function lineOf(call: ExplainedCall): string {
  const attempts = call.attempts.map(({ upstream, result }) => `${upstream} ${result}`)
  const { at, guid, outcome, totalMs } = call
  return clean([at, guid, nameOf(call), outcome, ms(totalMs), attempts.join('; ')].join('  '))
}

function textOf(call: ExplainedCall): string {
  const { cache, session, crossValidation: vote, attempts, unserved } = call
  const by = call.answeredBy === null ? '' : `, answered by ${call.answeredBy}`
  const dropped = session?.isDropped ? '; dropped, it failed' : ''
  const notes = {
    error: call.error,
    cache:
      cache && `${cache.verdict}${cache.why ? ` (${cache.why})` : ''}, class ${cache.ageClass}`,
    session: session && `${session.node}, ${session.choice}${dropped}`,
    vote:
      vote &&
      `${vote.failure ?? 'agreed'}; asked ${names(vote.all)}; agree ${names(vote.agreeing)}; differ ${names(vote.disagreeing)}`,
  }
  const lines = [
    `${nameOf(call)}  ${call.guid}`,
    `${call.at}  ${call.outcome} after ${ms(call.totalMs)}${by}; retries ${call.retries}, hedges ${call.hedges}`,
    ...Object.entries(notes).flatMap(([word, note]) => (note ? [`${word}: ${note}`] : [])),
    ...tableOf(session?.candidates ?? null),
  ]
  let before = ''
  for (const attempt of attempts) {
    const table = tableOf(attempt.candidates)
    // Of attempts that saw the same it stands once.
    lines.push(...attemptLines(attempt), ...(table.join() === before ? [] : table))
    before = table.join()
  }
  if (attempts.length === 0) lines.push('no upstream was asked')
  if (unserved) lines.push('no other could be asked', ...tableOf(unserved))
  return lines.map(clean).join('\n')
}

function attemptLines(attempt: ExplainedAttempt): readonly string[] {
  const { startMs, kind, upstream, result, tookMs, budgetMs, detail, violation } = attempt
  const took = tookMs === null ? 'still running' : `in ${ms(tookMs)}`
  const budget = budgetMs === null ? '' : `, budget ${ms(budgetMs)}`
  const why = detail === null ? '' : ` (${detail})`
  const wrong = violation ? [`    check ${violation.check}: ${violation.detail}`] : []
  return [`+${ms(startMs)}  ${kind}  ${upstream}  ${result} ${took}${budget}${why}`, ...wrong]
}

const columns = ['upstream', 'rank', 'score', 'availability', 'latency', 'sync', 'drawn']

function tableOf(seen: readonly ExplainedCandidate[] | null): readonly string[] {
  if (seen === null) return []
  const rows = seen.map((each) => {
    const { leftOut, amount, share } = each
    const scores = [each.weight, each.availability, each.latency, each.sync]
    const more = leftOut === 'cooldown' ? `${ms(Number(amount))} left` : `${amount} blocks behind`
    const why = amount === null ? leftOut : `${leftOut}, ${more}`
    const drawn = leftOut === null ? `${Math.round(share * 100)} %` : `no: ${why}`
    return [each.name, String(each.rank ?? '-'), ...scores.map((one) => one.toFixed(2)), drawn]
  })
  return aligned([columns, ...rows]).map((line) => `    ${line}`)
}
