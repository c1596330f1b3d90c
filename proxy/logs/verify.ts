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

interface Verified {
  readonly logs: LogList
  /** False if no second upstream answered, or if two differ and nothing decides: never cached. */
  readonly isProven: boolean
}

/**
 * Compares logs of final blocks with those of a second upstream, of another group if there is one.
 * Where they differ, the receipts that match the header of the block decide.
 * @param ask returns the logs of an upstream, or null if it does not answer
 * @returns the right logs; if nothing decides, the longer list, because nodes omit logs more often
 * than they invent them
 */
export async function verified(
  query: LogsQuery,
  range: Range,
  { logs, by }: { readonly logs: LogList; readonly by: string },
  ask: (upstream: string) => Promise<LogList | null>,
  context: LogsContext,
): Promise<Verified> {
  const { limits, observer } = context
  const serving = limits.serving(query.call)
  const upstream = serving.find(({ name }) => name === by)
  if (!upstream || serving.length === 1) return { logs, isProven: true }
  const rankOf = (each: Upstream) =>
    (each.group === upstream.group ? 0 : 1e12) + limits.of(each, query.density)
  for (const other of serving.toSorted((a, b) => rankOf(b) - rankOf(a))) {
    const second = other === upstream ? null : await ask(other.name)
    if (!second) continue
    const witnesses = [
      { upstream, logs },
      { upstream: other, logs: second },
    ]
    const right = await decided(query, witnesses, context)
    query.note[right ? 'verifiedBlocks' : 'disputedBlocks'] += sizeOf(range)
    if (right) return { logs: right, isProven: true }
    observer.logsMismatched?.(query.call, [by, other.name], 'undecided')
    return { logs: second.length > logs.length ? second : logs, isProven: false }
  }
  return { logs, isProven: false }
}

/** Decides between two witnesses, and reports the wrong one. Null if nothing decides. */
async function decided(
  query: LogsQuery,
  witnesses: readonly Witness[],
  context: LogsContext,
): Promise<LogList | null> {
  const [first = [], second = []] = witnesses.map(({ logs }) => logs)
  const disputed = differing(first, second)
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
  const others = first.filter(({ block }) => !right.has(block))
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
