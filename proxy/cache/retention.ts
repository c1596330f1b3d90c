// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import { indexingBlocks, lastPoint } from '../chain/finality.ts'
import type { MethodSpec } from '../chain/types.ts'
import type { AgeClass, CachePolicy } from '../config/types.ts'
import {
  isCancelled,
  type AttemptRecord,
  type CacheWhy,
  type Call,
  type Journal,
} from '../relay/call.ts'
import type { ReplyContent, Reply } from '../relay/reply.ts'
import { isNull, isEmptyResult, isRevert, shownBlock } from '../relay/shown-block.ts'
import type { Dialect } from '../upstream/dialect.ts'
import { bytesOf, type Entry, isFor } from './entry.ts'
import type { SharedEntry } from './entry-codec.ts'

/** TTL per age class in milliseconds; 0 disables caching. */
export type Lifetimes = Readonly<Record<AgeClass, number>>

/** Lifetimes per method of one chain and interface, by the first matching policy or by default. */
export function lifetimesOf(
  policies: readonly CachePolicy[],
  blockTimeMs: number,
): (method: string) => Lifetimes {
  // 500 ms also limits answers about objects that do not exist yet.
  const latest = Math.min(500, blockTimeMs)
  const usual = { finalized: 60 * 60_000, 'near-head': blockTimeMs, latest }
  const of = (method: string, ageClass: AgeClass) => {
    const fits = policies.filter(({ pattern }) => pattern.test(method))
    const row = fits.find((each) => (each.ageClass ?? ageClass) === ageClass)
    return row === undefined ? usual[ageClass] : (row.ttlMs ?? 0)
  }
  const known = new Map<string, Lifetimes>()
  return (method) => {
    let lifetimes = known.get(method)
    if (lifetimes) return lifetimes
    const [finalized, nearHead] = [of(method, 'finalized'), of(method, 'near-head')]
    lifetimes = { finalized, 'near-head': nearHead, latest: of(method, 'latest') }
    known.set(method, lifetimes)
    return lifetimes
  }
}

/** Why a call bypasses the cache, whatever the tip is; null if it does not. */
export function whyNever(method: MethodSpec): CacheWhy | null {
  const { known, kind, cacheable, stateful, waitsForBlock, block, deterministic, byHash } = method
  if (kind === 'write') return 'write'
  if (!known || kind !== 'read' || !cacheable || stateful !== null || waitsForBlock) return 'method'
  if (isPending(block)) return 'pending'
  return block.kind === 'none' && !byHash && !deterministic ? 'block-unknown' : null
}

function isPending(point: MethodSpec['block']): boolean {
  if (point.kind === 'range') return isPending(point.from) || isPending(point.to)
  return point.kind === 'tag' && point.tag === 'pending'
}

/**
 * How long the answer to a call stays valid. An answer by hash counts as near the head until it
 * reveals its block. @returns null if that depends on the unknown tip
 */
export function ageClassOf(
  { block, byHash }: MethodSpec,
  tip: number | null,
  distance: number,
): AgeClass | null {
  if (block.kind === 'none') return byHash ? 'near-head' : 'finalized'
  if (block.kind === 'hash') return 'near-head'
  const last = lastPoint(block)
  if (last === null) return 'latest'
  if (last === 0) return 'finalized'
  return tip === null ? null : ageOfBlock(last, tip, distance)
}

function ageOfBlock(block: number, tip: number, distance: number): AgeClass {
  return block <= tip - distance ? 'finalized' : 'near-head'
}

/** State of the chain when a call was sent. The answer may be older than what is known later. */
export interface Moment {
  readonly ageClass: AgeClass
  readonly tip: number | null
  /** The highest head of any upstream. */
  readonly head: number
}

/** How long an answer stays valid, or why it is not cached. */
export type Retention = Pick<Entry, 'ageClass' | 'isEmpty'> | CacheWhy

/** A node may have lost the block, so its empty answer expires after a minute. */
const maxEmptyMs = 60_000

/** TTL of an answer. An empty answer that may yet fill counts as one about the latest block. */
export function ttlOf(lifetimes: Lifetimes, ageClass: AgeClass, isEmpty: boolean): number {
  const emptyMs = ageClass === 'finalized' ? maxEmptyMs : lifetimes.latest
  return isEmpty ? Math.min(lifetimes[ageClass], emptyMs) : lifetimes[ageClass]
}

/** Answers with any other status are not retained. */
const okStatus = 200

/**
 * @param content of the answer; null if it was not read before
 * @param distance number of blocks behind the tip at which a block is final
 */
export function retentionOf(
  call: Call,
  reply: Reply,
  { ageClass, tip, head }: Moment,
  content: ReplyContent | null,
  { distance, dialect }: { readonly distance: number; readonly dialect: Dialect },
): Retention {
  const { incoming, refusal, latestBlock } = reply
  const { body, status } = incoming
  if (!(body instanceof Uint8Array)) return 'too-large'
  const isOwn = refusal === null || isRevert(refusal)
  if (status !== okStatus || !isOwn || !isAccepted(call, reply)) return 'error'
  const known = latestBlock ?? -1
  const { block, showsBlock } = call.method
  const isByHash = ageClass === 'near-head' && (block.kind === 'none' || block.kind === 'hash')
  const shown = isByHash && showsBlock ? shownBlock(incoming, content, showsBlock, dialect) : null
  // A pending transaction has no block yet.
  const isEmpty = isNull(content, body) || (isByHash && Boolean(showsBlock) && shown === null)
  // A lagging node also returns null for blocks that it lacks.
  if (isEmpty) return known >= head ? { ageClass, isEmpty } : 'empty'
  if (isByHash) {
    // On a chain with instant finality, the content of a block is final.
    if (distance <= 1)
      return { ageClass: 'finalized', isEmpty: isEmptyResult(incoming, content, dialect) }
    if (shown !== null && tip !== null)
      return { ageClass: ageOfBlock(shown, tip, distance), isEmpty }
    return head > 0 ? { ageClass, isEmpty } : 'block-unknown'
  }
  const needed = ageClass === 'latest' ? head : (lastPoint(block) ?? 0)
  const isThere = needed === 0 ? ageClass === 'finalized' : known >= Math.min(needed, head)
  if (!isThere) return 'block-unknown'
  if (ageClass !== 'finalized' || !isEmptyResult(incoming, content, dialect))
    return { ageClass, isEmpty }
  const isNew = tip !== null && needed > tip - indexingBlocks
  return { ageClass: isNew ? 'near-head' : ageClass, isEmpty: !isNew }
}

/** Whether the relay accepted the answer rather than using it as a fallback. */
export function isAccepted({ journal }: Pick<Call, 'journal'>, reply: Reply): boolean {
  const attempt = attemptOf(journal, reply)
  const expected = reply.refusal === null ? 'answer' : 'node-error'
  return attempt?.result === expected && !attempt.missedBlock && !attempt.isDoubted
}

/** Whether the answer violates a check, even if upstreams agree. It must not serve other calls. */
export function isDoubtful({ journal }: Pick<Call, 'journal'>, reply: Reply): boolean {
  if (journal.logs && journal.logs.disputedBlocks > 0) return true
  const attempt = attemptOf(journal, reply)
  return attempt !== undefined && (attempt.isDoubted || attempt.violation !== null)
}

function attemptOf({ attempts }: Journal, { upstream }: Reply): AttemptRecord | undefined {
  return attempts.findLast(
    ({ upstream: name, result }) => name === upstream && !isCancelled(result),
  )
}

/** The upstream whose empty answer about a final block another one must confirm; or null. */
export function unconfirmedBy(
  upstream: string,
  { ageClass, isEmpty }: Pick<Entry, 'ageClass' | 'isEmpty'>,
) {
  return isEmpty && ageClass === 'finalized' ? upstream : null
}

/**
 * Adopts a stored entry. Others can write to the store, so it is checked like an upstream's answer.
 * @param now the current state of this replica
 * @returns null if the entry is not valid for the call now; `broken` if it does not answer the call
 */
export function adopted(
  { ageClass, isEmpty, head, ...entry }: SharedEntry,
  { reader, method, directives, journal }: Call,
  lifetimes: Lifetimes,
  now: Pick<Entry, 'head' | 'branch'> & {
    readonly ms: number
    readonly wallMs: number
    /** Entries of each class that were stored before this time are invalid. */
    readonly endedMs: Readonly<Record<AgeClass, number>>
  },
  failures: FailureTable,
): Entry | null | 'broken' {
  const { headers, trailers, upstream, latestBlock, ttlMs, storedWallMs } = entry
  journal.unconfirmed = unconfirmedBy(upstream, { ageClass, isEmpty })
  const ownMs = ttlOf(lifetimes, ageClass, isEmpty)
  const ageMs = Math.max(0, now.wallMs - storedWallMs)
  const leftMs = Math.min(ownMs, ttlMs) - ageMs
  // If the store's TTL is no longer than ours, the store expires the entry.
  if (directives.refreshCache || (leftMs <= 0 && ownMs < ttlMs)) return null
  if (storedWallMs <= now.endedMs[ageClass]) return null
  if ((head >= 0 && head < now.head) || !isFor(entry, head, directives)) return null
  const stored = { status: okStatus, headers, body: bytesOf(entry), trailers: () => trailers }
  const content = reader.read(stored, false, true)
  const id = reader.idIn?.(stored.body)
  if (content.kind === 'malformed' || id === null) return 'broken'
  const isError = content.kind === 'node-error'
  const refusal = isError
    ? failures.ofNodeError(content.error, method.name, method.runsCallerCode)
    : null
  if (refusal && !isRevert(refusal)) return 'broken'
  const answer = { ...stored, trailers, id: id ?? null, upstream, refusal, latestBlock }
  const times = { expiresMs: now.ms + leftMs, ttlMs: leftMs + ageMs }
  return { answer, ageClass, isEmpty, ...times, head, branch: now.branch }
}
