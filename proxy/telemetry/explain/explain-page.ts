// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { aligned, clean, stateText, time } from '../format.ts'
import { type Explained, type CallHistory, recordedKinds } from './call-history.ts'
import type { Client } from '../../relay/call.ts'
import { counted } from '../../words/counted.ts'

/** Calls of a list. */
export const mostListed = 20

export interface ExplainAnswer {
  readonly status: number
  readonly isText: boolean
  readonly body: string
}

/** Answers `/explain` and `/explain/<guid>`. Read-only. @param guid null for a list */
export function explainPage(
  history: Pick<CallHistory, 'find' | 'list' | 'extent'>,
  guid: string | null,
  query: Readonly<Record<string, unknown>>,
): ExplainAnswer {
  const { upstream } = query
  const named = typeof upstream === 'string' ? upstream : null
  const kind = recordedKinds.find((each) => each in query) ?? (named === null ? 'recent' : null)
  const explained = guid === null ? history.list(kind, mostListed, named) : history.find(guid)
  const { calls, more } = explained
  const none = `${guid === null ? 'no call' : 'no call has this guid here'}; stored: ${history.extent}`
  if (guid !== null && calls.length === 0) return { status: 404, isText: true, body: `${none}\n` }
  if (query['format'] !== 'text')
    return { status: 200, isText: false, body: JSON.stringify(explained, rounded) }
  const lines = calls.map(guid === null ? lineOf : textOf)
  if (calls.length === 0) lines.push(none)
  if (more > 0) lines.push(`and ${more} more`)
  return { status: 200, isText: true, body: `${lines.join(guid === null ? '\n' : '\n\n')}\n` }
}

const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value

type ExplainedCall = Explained['calls'][number]
type Candidates = ExplainedCall['unserved']

const ms = (amount: number | null) => time(amount === null ? null : amount / 1_000)
const names = (list: readonly string[]) => list.join(', ') || 'none'
const nameOf = (call: ExplainedCall) =>
  `${call.chain} ${call.interface} ${call.method ?? '(refused before it became a call)'}`

function lineOf(call: ExplainedCall): string {
  const attempts = call.attempts.map(({ upstream, result }) => `${upstream} ${result}`)
  const { at, guid, outcome, totalMs, client } = call
  const cells = [at, guid, nameOf(call), outcome, ms(totalMs), attempts.join('; ')]
  return clean([...cells, ...(client ? [`from ${client.address}`] : [])].join('  '))
}

function logsLine(logs: NonNullable<ExplainedCall['logs']>): string {
  const { blocks, cachedBlocks: cached, verifiedBlocks: verified, disputedBlocks } = logs
  const disputed = disputedBlocks > 0 ? `, ${disputedBlocks} disputed: upstreams differ` : ''
  return `logs: ${counted(blocks, 'block')}, ${cached} cached, ${verified} verified${disputed}`
}

function textOf(call: ExplainedCall): string {
  const { cache, session, crossValidation: vote, attempts, unserved, error } = call
  const { answeredBy, client, logs } = call
  const by = answeredBy === null ? '' : `, answered by ${answeredBy}`
  const dropped = session?.isDropped ? '; dropped, it failed' : ''
  const sections: (readonly [text: string | false | null, table?: Candidates | undefined])[] = [
    [`${nameOf(call)}  ${call.guid}`],
    [`${call.at}  ${call.outcome} after ${ms(call.totalMs)}${by}`],
    [client && `from ${client.address}${pathText(client)}`],
    [error && `error: ${error}`],
    [cache && `cache: ${cache.verdict}${inBrackets(cache.why)}, class ${cache.ageClass}`],
    [session && `session: ${session.node}, ${session.choice}${dropped}`, session?.considered],
    [vote && `vote: ${vote.failure ?? 'agreed'}; asked ${names(vote.all)}`],
    [vote && `    agree ${names(vote.agreeing)}; differ ${names(vote.disagreeing)}`],
    [logs && logsLine(logs)],
    ...attempts.map((each) => [attemptLine(each), each.considered] as const),
    [attempts.length === 0 && 'no upstream was tried'],
    [unserved && 'no other upstream was available', unserved],
  ]
  // Omits a table that equals the previous one.
  const lines = sections.flatMap(([text, table = null], at) => [
    ...(text ? [text] : []),
    ...(table && table !== sections[at - 1]?.[1] ? tableOf(table) : []),
  ])
  return lines.map(clean).join('\n')
}

function pathText({ path, userAgent }: Client): string {
  return `${path && `, path ${path}`}${userAgent === null ? '' : `, ${userAgent}`}`
}

const inBrackets = (text: string | null) => (text === null ? '' : ` (${text})`)

function attemptLine(attempt: ExplainedCall['attempts'][number]): string {
  const { startMs, kind, upstream, result, tookMs, budgetMs, detail } = attempt
  const took = tookMs === null ? '' : ` in ${ms(tookMs)}`
  const budget = budgetMs === null ? '' : `, budget ${ms(budgetMs)}`
  return `+${ms(startMs)}  ${kind}  ${upstream}  ${result}${took}${budget}${inBrackets(detail)}`
}

const columns = ['upstream', 'rank', 'score', 'availability', 'latency', 'sync', 'candidate']

function tableOf(candidates: NonNullable<Candidates>): readonly string[] {
  const rows = candidates.map(({ name, rank, exclusionReason, amount, why, record, ...each }) => {
    const scores = [each.weight, each.availability, each.latency, each.sync]
    const reasons =
      record?.state === exclusionReason
        ? []
        : [`${exclusionReason}${amountText(exclusionReason, amount)}${why ? `: ${why}` : ''}`]
    if (record) reasons.push(stateText(record))
    const candidate = exclusionReason ? `no: ${reasons.join('; ')}` : 'yes'
    return [name, String(rank ?? '-'), ...scores.map((one) => one.toFixed(2)), candidate]
  })
  return aligned([columns, ...rows]).map((line) => `    ${line}`)
}

/** Exclusions that end after a known time. */
const timed: ReadonlySet<string> = new Set(['cooldown', 'no-method', 'limit-reached'])

function amountText(exclusionReason: string | null, amount: number | null): string {
  if (amount === null) return ''
  if (exclusionReason && timed.has(exclusionReason)) return `, ${ms(amount)} left`
  return exclusionReason === 'pruned'
    ? `, before block ${amount}`
    : `, ${counted(amount, 'block')} behind`
}
