// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { explainLimits } from '../../bytes/limits.ts'
import { aligned, clean, time } from '../../console/format.ts'
import type { Explained, ExplainedAttempt, ExplainedCall, ExplainedCandidate } from './explained.ts'
import type { KeptCalls } from './kept-calls.ts'

/** What is asked for: `/explain/<guid>`, or a list. */
export interface ExplainQuestion {
  /** Null for a list. */
  readonly guid: string | null
  readonly query: Readonly<Record<string, unknown>>
  readonly accept: string | undefined
}

export interface ExplainAnswer {
  readonly status: 200 | 400 | 404
  readonly isText: boolean
  readonly body: string
}

const usualLimit = 20

/** Answers `/explain`. It only reads. */
export function explainPage(
  calls: Pick<KeptCalls, 'find' | 'list' | 'extent'>,
  { guid, query, accept = '' }: ExplainQuestion,
): ExplainAnswer {
  const refused = (status: 400 | 404, why: string) => ({ status, isText: true, body: `${why}\n` })
  const limit = query['limit'] === undefined ? usualLimit : Number(query['limit'])
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= explainLimits.listed))
    return refused(400, `limit must be a whole number from 1 to ${explainLimits.listed}`)
  const { format = accept.includes('text/plain') ? 'text' : 'json' } = query
  if (format !== 'text' && format !== 'json') return refused(400, 'format must be text or json')
  const kind = 'failed' in query ? 'failed' : 'slow' in query ? 'slow' : 'recent'
  const explained = guid === null ? calls.list(kind, limit) : calls.find(guid)
  if (guid !== null && explained.calls.length === 0)
    return refused(404, `no call has this guid here; kept are ${calls.extent}`)
  const isText = format === 'text'
  const write = guid === null ? listText : callsText
  const none = `no call; kept are ${calls.extent}\n`
  const text = () => (explained.calls.length === 0 ? none : write(explained))
  return { status: 200, isText, body: isText ? text() : JSON.stringify(explained) }
}

function callsText({ calls, more }: Explained): string {
  const each = calls.map((call) => callText(call))
  return `${[...each, ...restOf(more)].join('\n\n')}\n`
}

/** One line a call. */
function listText({ calls, more }: Explained): string {
  const lines = calls.map((call) => {
    const attempts = call.attempts.map(({ upstream, result }) => `${upstream} ${result}`)
    const { at, guid, outcome, totalMs } = call
    return clean([at, guid, nameOf(call), outcome, ms(totalMs), attempts.join('; ')].join('  '))
  })
  return `${[...lines, ...restOf(more)].join('\n')}\n`
}

const restOf = (more: number) => (more === 0 ? [] : [`and ${more} more`])
const nameOf = (call: ExplainedCall) =>
  `${call.chain} ${call.interface} ${call.method ?? '(refused before it became a call)'}`

function callText(call: ExplainedCall): string {
  const { cache, session, crossValidation: vote, attempts, unserved } = call
  const by = call.answeredBy === null ? '' : `, answered by ${call.answeredBy}`
  const lines = [
    `${nameOf(call)}  ${call.guid}`,
    `${call.at}  ${call.outcome} after ${ms(call.totalMs)}${by}; retries ${call.retries}, hedges ${call.hedges}`,
    call.error && `error: ${call.error}`,
    cache &&
      `cache: ${cache.verdict}${cache.why ? ` (${cache.why})` : ''}, class ${cache.ageClass}`,
    session &&
      `session: ${session.node}, ${session.choice}${session.isDropped ? '; dropped, it failed' : ''}`,
    vote &&
      `vote: ${vote.failure ?? 'agreed'}; asked ${names(vote.all)}; agree ${names(vote.agreeing)}; differ ${names(vote.disagreeing)}`,
  ]
  lines.push(...tableOf(session?.candidates ?? null))
  let before = ''
  for (const attempt of attempts) {
    const table = tableOf(attempt.candidates)
    // Of attempts that saw the same it stands once.
    lines.push(...attemptLines(attempt), ...(table.join() === before ? [] : table))
    before = table.join()
  }
  if (attempts.length === 0) lines.push('no upstream was asked')
  if (unserved) lines.push('no other could be asked', ...tableOf(unserved))
  return lines
    .filter((line) => line !== null)
    .map(clean)
    .join('\n')
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
    const scores = [each.weight, each.availability, each.latency, each.sync]
    const drawn =
      each.leftOut === null ? `${Math.round(each.share * 100)} %` : `no: ${reasonOf(each)}`
    return [each.name, String(each.rank ?? '-'), ...scores.map((one) => one.toFixed(2)), drawn]
  })
  return aligned([columns, ...rows]).map((line) => `    ${line}`)
}

/** @returns `cooldown, 22s left` */
function reasonOf({ leftOut, amount }: ExplainedCandidate): string {
  if (amount === null) return leftOut ?? ''
  return leftOut === 'cooldown'
    ? `cooldown, ${ms(amount)} left`
    : `${leftOut}, ${amount} blocks behind`
}

const ms = (amount: number) => time(amount / 1_000)
const names = (list: readonly string[]) => list.join(', ') || 'none'
