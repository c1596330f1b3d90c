// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkLogs } from '../integrity/logs.ts'
import { parseSpan } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toNumber, toQuantity } from '../json/values.ts'
import { askElsewhere } from '../relay/own-call.ts'
import { settle } from '../upstream/outcome.ts'
import type { Upstream } from '../upstream/upstream.ts'
import {
  byPosition,
  bytesOf,
  type Log,
  type LogList,
  type Range,
  readLogs,
  sizeOf,
} from './log-list.ts'
import type { PartRequests } from './part-requests.ts'
import { filterIn, type LogsContext, type LogsQuery } from './query.ts'

/** How long an upstream counts as wrong after it returned wrong logs. */
const wrongMs = 300_000
/** Blocks to decide by their receipts. With more, the upstream that was wrong is known. */
const maxDisputed = 16

/** An upstream and its logs. */
interface Witness {
  readonly upstream: Upstream
  readonly logs: LogList
}

type Pair = readonly [Witness, Witness]

interface Verified {
  readonly logs: LogList
  /** False if no second upstream answered, or if two differ and nothing decides: never cached. */
  readonly isProven: boolean
}

/**
 * Compares logs of final blocks with those of a second upstream, of another group if there is one.
 * Where they differ, the receipts that match the header of the block decide, or else a third
 * upstream.
 * @returns the right logs; if nothing decides, the longer list, because nodes omit logs more often
 * than they invent them
 */
export async function verified(
  query: LogsQuery,
  range: Range,
  { logs, by }: { readonly logs: LogList; readonly by: string },
  requests: PartRequests,
  context: LogsContext,
): Promise<Verified> {
  const { limits, observer } = context
  const { call, density, note } = query
  const serving = limits.serving(call)
  const upstream = serving.find(({ name }) => name === by)
  if (!upstream || serving.length === 1) return { logs, isProven: true }
  const asked = new Set([upstream])
  const another = async (witnesses: readonly Witness[], { from, to }: Range) => {
    const sound = requests.able(1)
    const groups = witnesses.map((each) => each.upstream.group)
    const rankOf = (each: Upstream) =>
      (sound.includes(each.name) ? 2e12 : 0) +
      (groups.includes(each.group) ? 0 : 1e12) +
      limits.of(each, density)
    for (const next of serving.toSorted((a, b) => rankOf(b) - rankOf(a))) {
      if (asked.has(next)) continue
      asked.add(next)
      const own = await requests.all({ from, to }, next.name)
      if (own) return { upstream: next, logs: own }
    }
    return null
  }
  const first = { upstream, logs }
  const second = await another([first], range)
  if (!second) return { logs, isProven: false }
  const witnesses = [first, second] as const
  const disputed = differing(logs, second.logs)
  const right =
    (await decided(disputed, query, witnesses, context)) ??
    (await outvoted(disputed, query, witnesses, another, context))
  note[right ? 'verifiedBlocks' : 'disputedBlocks'] += sizeOf(range)
  if (right) return { logs: right, isProven: true }
  observer.logsMismatched?.(call, [by, second.upstream.name], 'undecided')
  return { logs: second.logs.length > logs.length ? second.logs : logs, isProven: false }
}

/** Asks a third upstream for the disputed blocks, and reports the one that it contradicts. */
async function outvoted(
  [from = 0, ...others]: readonly number[],
  query: LogsQuery,
  witnesses: Pair,
  another: (witnesses: Pair, range: Range) => Promise<Witness | null>,
  context: LogsContext,
): Promise<LogList | null> {
  const to = others.at(-1) ?? from
  const third = await another(witnesses, { from, to })
  const within = ({ logs }: Witness) => logs.filter(({ block }) => block >= from && block <= to)
  const right = witnesses.find((each) => third && !differing(within(each), third.logs).length)
  const wrong = witnesses.find((each) => each !== right)
  // Upstreams that lack the same logs agree too.
  if (!right || !wrong || right.logs.length < wrong.logs.length) return null
  report(wrong.upstream, query, context)
  return right.logs
}

/** Decides between two witnesses, and reports the wrong one. Null if nothing decides. */
async function decided(
  disputed: readonly number[],
  query: LogsQuery,
  witnesses: Pair,
  context: LogsContext,
): Promise<LogList | null> {
  const right = new Map<number, LogList>()
  const wrong = new Set<Upstream>()
  for (const block of disputed.slice(0, maxDisputed)) {
    const truth = await provenLogs(block, query, witnesses, context)
    if (truth === null) return null
    right.set(block, truth)
    for (const { upstream, logs } of witnesses) {
      const own = logs.filter((log) => log.block === block)
      if (differing(own, truth).length > 0) wrong.add(upstream)
      // Nodes may add fields to a log that its receipt lacks.
      else right.set(block, own)
    }
  }
  for (const each of wrong) report(each, query, context)
  const base = witnesses.find(({ upstream }) => !wrong.has(upstream))
  if (base) return base.logs
  if (disputed.length > maxDisputed) return null
  const others = witnesses[0].logs.filter(({ block }) => !right.has(block))
  return [...others, ...right.values()].flat().toSorted(byPosition)
}

function report(wrong: Upstream, { call, note }: LogsQuery, { chain, observer }: LogsContext) {
  wrong.faulted('omitted or invented logs of final blocks (answers: #)', wrongMs)
  const [url] = wrong.urlsFor([])
  const failure = chain.failures.ofAnswer('violated')
  if (url) settle('failed', wrong, url, { failure, needsProbe: true })
  if (!note.wrong.includes(wrong.name)) note.wrong.push(wrong.name)
  observer.logsMismatched?.(call, [wrong.name], 'wrong')
}

/** Blocks in which two lists differ, ascending. */
function differing(one: LogList, other: LogList): readonly number[] {
  if (bytesOf(one).equals(bytesOf(other))) return []
  const [ours, theirs] = [one, other].map((logs) => Map.groupBy(logs, ({ block }) => block))
  const blocks = new Set([...one, ...other].map(({ block }) => block))
  const textOf = (logs: LogList = []) => logs.map(identityOf).join('\n')
  return [...blocks]
    .filter((block) => textOf(ours?.get(block)) !== textOf(theirs?.get(block)))
    .toSorted((a, b) => a - b)
}

/** What all nodes show alike in a log. */
function identityOf({ json, start, end }: Log): string {
  const log = parseSpan(json, start, end) as Record<string, unknown>
  const { logIndex, transactionHash, address, topics, data } = log
  return JSON.stringify([toNumber(logIndex), transactionHash, address, topics, data]).toLowerCase()
}

/** The logs in receipts that match the header on which both upstreams agree; null without those. */
async function provenLogs(
  block: number,
  query: LogsQuery,
  witnesses: readonly Witness[],
  context: LogsContext,
): Promise<LogList | null> {
  const ask = async (method: string, params: readonly unknown[], { upstream }: Witness) =>
    (await askElsewhere(query.call, context, { method, params, only: [upstream.name] }))?.result
  const headers = await Promise.all(
    witnesses.map((each) => ask('eth_getBlockByNumber', [toQuantity(block), false], each)),
  )
  const roots = new Set(headers.map((header) => toHash(valueAt(header, ['receiptsRoot']))))
  const [root = null] = roots
  if (roots.size > 1 || root === null) return null
  const { receiptsRoot } = await import('../integrity/receipts-root.ts')
  for (const each of witnesses) {
    const receipts = await ask('eth_getBlockReceipts', [toQuantity(block)], each)
    if (!Array.isArray(receipts) || toHash(await receiptsRoot(receipts)) !== root) continue
    const [filter] = filterIn(query.call)
    const logs = receipts.flatMap((receipt) => valueAt(receipt, ['logs']) as unknown[])
    const fitting = logs.filter((log) => checkLogs([log], filter, { kind: 'none' }) === null)
    return readLogs(Buffer.from(JSON.stringify({ result: fitting })), block, block)
  }
  return null
}
