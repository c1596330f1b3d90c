// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain } from '../chain/types.ts'
import { checkLogs } from '../integrity/logs.ts'
import { parseJson } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash, toNumber, toQuantity } from '../json/values.ts'
import type { Call, RelayObserver } from '../relay/call.ts'
import type { Relay } from '../relay/relay.ts'
import { settle } from '../upstream/outcome.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { byPosition, type Log, type LogList, type Range, readLogs, sizeOf } from './log-list.ts'
import type { RangeLimits } from './limits.ts'
import { askNode, type LogsQuery } from './query.ts'

/** How long an upstream counts as wrong after it returned wrong logs. */
const wrongMs = 300_000
/** Blocks to decide by their receipts. With more, the upstream that was wrong is known. */
const maxDisputed = 16

export interface VerifyContext {
  readonly relay: Relay
  readonly limits: RangeLimits
  readonly chain: Chain
  readonly observer: Pick<RelayObserver, 'logsMismatched'>
}

/** An upstream and its logs. */
interface Witness {
  readonly upstream: Upstream
  readonly logs: LogList
}

/**
 * Compares logs of final blocks with those of a second upstream, of another group if there is one.
 * Where they differ, the receipts that match the header of the block decide.
 * @param ask returns the logs of an upstream, or null if it does not answer
 * @returns the right logs; null if nobody can tell
 */
export async function verified(
  query: LogsQuery,
  range: Range,
  logs: LogList,
  by: string,
  ask: (upstream: string) => Promise<LogList | null>,
  context: VerifyContext & Pick<Call, 'signal'>,
): Promise<LogList | null> {
  const { limits, observer, chain } = context
  const serving = limits.serving(query.call)
  const upstream = serving.find(({ name }) => name === by)
  if (!upstream || serving.length === 1) return logs
  const rankOf = (each: Upstream) => (each.group === upstream.group ? 0 : 1e12) + limits.of(each)
  const others = serving.filter((each) => each !== upstream)
  let other = upstream
  let second: LogList | null = null
  for (other of others.toSorted((a, b) => rankOf(b) - rankOf(a))) {
    second = await ask(other.name)
    if (second) break
  }
  if (!second) return null
  query.note.verifiedBlocks += sizeOf(range)
  const witnesses: readonly Witness[] = [
    { upstream, logs },
    { upstream: other, logs: second },
  ]
  const disputed = differing(logs, second)
  if (disputed.length === 0) return logs
  const wrong = new Set<Upstream>()
  const proven = new Map<number, LogList>()
  for (const block of disputed.slice(0, maxDisputed)) {
    const truth = await provenLogs(block, query, witnesses, context)
    if (truth === null) return null
    const own = witnesses.map((each) => ({
      ...each,
      logs: each.logs.filter((log) => log.block === block),
    }))
    const isRight = ({ logs: each }: Witness) => differing(each, truth).length === 0
    proven.set(block, own.find(isRight)?.logs ?? truth)
    for (const each of own) if (!isRight(each)) wrong.add(each.upstream)
  }
  for (const each of wrong) {
    each.faulted('omitted or invented logs of final blocks (answers: #)', wrongMs)
    const [url] = each.urlsFor([])
    const failure = chain.failures.ofAnswer('violated')
    if (url) settle('failed', each, url, { failure, needsProbe: true })
    if (!query.note.wrong.includes(each.name)) query.note.wrong.push(each.name)
    observer.logsMismatched?.(query.call, each.name)
  }
  const base = witnesses.find((each) => !wrong.has(each.upstream))
  if (base) return base.logs
  if (disputed.length > maxDisputed) return null
  const isOpen = ({ block }: Log) => !proven.has(block)
  return [...logs.filter(isOpen), ...proven.values()].flat().toSorted(byPosition)
}

/** Blocks in which two lists differ, ascending. */
function differing(one: LogList, other: LogList): readonly number[] {
  const [ours, theirs] = [one, other].map((logs) => Map.groupBy(logs, ({ block }) => block))
  const blocks = new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])
  const textOf = (logs: LogList | undefined) => (logs ?? []).map(identityOf).join('\n')
  return [...blocks]
    .filter((block) => textOf(ours?.get(block)) !== textOf(theirs?.get(block)))
    .toSorted((a, b) => a - b)
}

/** What all nodes show alike in a log. */
function identityOf({ text }: Log): string {
  const { logIndex, transactionHash, address, topics, data } = JSON.parse(text) as Record<
    string,
    unknown
  >
  return JSON.stringify([toNumber(logIndex), transactionHash, address, topics, data]).toLowerCase()
}

/** The logs in receipts that match the header on which both upstreams agree; null without those. */
async function provenLogs(
  block: number,
  { call }: LogsQuery,
  witnesses: readonly Witness[],
  context: VerifyContext & Pick<Call, 'signal'>,
): Promise<LogList | null> {
  const ask = async (method: string, params: readonly unknown[], { upstream }: Witness) =>
    (await askNode(call, context, method, params, [upstream.name]))?.result
  const headers = await Promise.all(
    witnesses.map((each) => ask('eth_getBlockByNumber', [toQuantity(block), false], each)),
  )
  const roots = new Set(headers.map((header) => toHash(valueAt(header, ['receiptsRoot']))))
  const [root = null] = roots
  if (roots.size > 1 || root === null) return null
  const { receiptsRoot } = await import('../integrity/receipts-root.ts')
  for (const each of witnesses) {
    const receipts = await ask('eth_getBlockReceipts', [toQuantity(block)], each)
    if (!Array.isArray(receipts) || toHash(receiptsRoot(receipts)) !== root) continue
    const [filter] = (parseJson(call.request.body as Uint8Array) as { params: [unknown] }).params
    const logs = receipts.flatMap((receipt) => valueAt(receipt, ['logs']) as unknown[])
    const fitting = logs.filter((log) => checkLogs([log], filter, { kind: 'none' }) === null)
    return readLogs(Buffer.from(JSON.stringify({ result: fitting })), block, block)
  }
  return null
}
