// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { aligned, clean, stateText, time } from '../format.ts'
import { type Explained, type CallHistory, keptKinds } from './call-history.ts'

/** Answers `/explain`, and `/explain/<guid>`. It only reads. @param guid null for a list */
export function explainPage(
  kept: Pick<CallHistory, 'find' | 'list' | 'extent'>,
  guid: string | null,
  query: Readonly<Record<string, unknown>>,
) {
  const kind = keptKinds.find((each) => each in query) ?? 'recent'
  const explained = guid === null ? kept.list(kind) : kept.find(guid)
  const { calls, more } = explained
  const none = `${guid === null ? 'no call' : 'no call has this guid here'}; kept are ${kept.extent}`
  if (guid !== null && calls.length === 0) return { status: 404, isText: true, body: `${none}\n` }
  if (query['format'] !== 'text')
    return { status: 200, isText: false, body: JSON.stringify(explained, rounded) }
  const parts = calls.map(guid === null ? lineOf : textOf)
  if (calls.length === 0) parts.push(none)
  if (more > 0) parts.push(`and ${more} more`)
  return { status: 200, isText: true, body: `${parts.join(guid === null ? '\n' : '\n\n')}\n` }
}

const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value

type ExplainedCall = Explained['calls'][number]
type Seen = ExplainedCall['unserved']

const ms = (amount: number | null) => time(amount === null ? null : amount / 1_000)
const names = (list: readonly string[]) => list.join(', ') || 'none'
const nameOf = (call: ExplainedCall) =>
  `${call.chain} ${call.interface} ${call.method ?? '(refused before it became a call)'}`

function lineOf(call: ExplainedCall): string {
  const attempts = call.attempts.map(({ upstream, result }) => `${upstream} ${result}`)
  const { at, guid, outcome, totalMs } = call
  return clean([at, guid, nameOf(call), outcome, ms(totalMs), attempts.join('; ')].join('  '))
}

function textOf(call: ExplainedCall): string {
  const { cache, session, crossValidation: vote, attempts, unserved, error, answeredBy } = call
  const by = answeredBy === null ? '' : `, answered by ${answeredBy}`
  const dropped = session?.isDropped ? '; dropped, it failed' : ''
  const parts: (readonly [text: string | false | null, seen?: Seen | undefined])[] = [
    [`${nameOf(call)}  ${call.guid}`],
    [`${call.at}  ${call.outcome} after ${ms(call.totalMs)}${by}`],
    [error && `error: ${error}`],
    [cache && `cache: ${cache.verdict}${inBrackets(cache.why)}, class ${cache.ageClass}`],
    [session && `session: ${session.node}, ${session.choice}${dropped}`, session?.considered],
    [vote && `vote: ${vote.failure ?? 'agreed'}; asked ${names(vote.all)}`],
    [vote && `    agree ${names(vote.agreeing)}; differ ${names(vote.disagreeing)}`],
    ...attempts.map((each) => [attemptLine(each), each.considered] as const),
    [attempts.length === 0 && 'no upstream was asked'],
    [unserved && 'no other could be asked', unserved],
  ]
  // What one attempt after the other saw alike stands once.
  const lines = parts.flatMap(([text, seen = null], at) => [
    ...(text ? [text] : []),
    ...(seen && seen !== parts[at - 1]?.[1] ? tableOf(seen) : []),
  ])
  return lines.map(clean).join('\n')
}

const inBrackets = (text: string | null) => (text === null ? '' : ` (${text})`)

function attemptLine(attempt: ExplainedCall['attempts'][number]): string {
  const { startMs, kind, upstream, result, tookMs, budgetMs, detail } = attempt
  const took = tookMs === null ? '' : ` in ${ms(tookMs)}`
  const budget = budgetMs === null ? '' : `, budget ${ms(budgetMs)}`
  return `+${ms(startMs)}  ${kind}  ${upstream}  ${result}${took}${budget}${inBrackets(detail)}`
}

const columns = ['upstream', 'rank', 'score', 'availability', 'latency', 'sync', 'candidate']

function tableOf(seen: NonNullable<Seen>): readonly string[] {
  const rows = seen.map(({ name, rank, exclusionReason, amount, record, ...each }) => {
    const scores = [each.weight, each.availability, each.latency, each.sync]
    const reasons =
      record?.state === exclusionReason
        ? []
        : [`${exclusionReason}${amountText(exclusionReason, amount)}`]
    if (record) reasons.push(stateText(record))
    const candidate = exclusionReason ? `no: ${reasons.join('; ')}` : 'yes'
    return [name, String(rank ?? '-'), ...scores.map((one) => one.toFixed(2)), candidate]
  })
  return aligned([columns, ...rows]).map((line) => `    ${line}`)
}

function amountText(exclusionReason: string | null, amount: number | null): string {
  if (amount === null) return ''
  if (exclusionReason === 'cooldown') return `, ${ms(amount)} left`
  return exclusionReason === 'pruned' ? `, before block ${amount}` : `, ${amount} blocks behind`
}
