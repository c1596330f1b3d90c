// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toQuantity } from '../json/values.ts'
import { hash } from 'node:crypto'
import { nodeLimits } from '../bytes/limits.ts'
import type { BlockPoint, Chain } from '../chain/types.ts'
import { parseJson } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import type { Call, Journal, LogsNote } from '../relay/call.ts'
import { RelayError } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import type { Reply } from '../relay/reply.ts'
import { ownCall } from '../relay/own-call.ts'
import { withHeight } from '../relay/pin.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { release, wholeBody } from '../upstream/wire.ts'
import type { LogList, Range } from './log-list.ts'
import type { Slices } from './slices.ts'

/** Where the logs of final blocks are cached. */
export interface Place {
  readonly slices: Slices
  readonly filter: string
  readonly ttlMs: number
}

/** A query for the logs of a range. */
export interface LogsQuery {
  readonly call: Call
  readonly range: Range
  /** Logs up to this block can no longer change. */
  readonly finalTo: number
  /** Null if its logs are not cached. */
  readonly place: Place | null
  /** Whether a second upstream is asked for final blocks. */
  readonly isVerified: boolean
  /** What happened so far. */
  readonly note: LogsNote
}

/** Caches logs of final blocks. @returns whether they are cached */
export function store(
  { place }: LogsQuery,
  range: Range,
  logs: LogList,
  upstream: string,
): boolean {
  return place?.slices.add(place.filter, range, logs, upstream, place.ttlMs) ?? false
}

/** Whether the upstream had all of the blocks, and its answer passed every check. */
export function isSure({ to }: Range, { latestBlock, upstream }: Reply, journal: Journal): boolean {
  const attempt = journal.attempts.findLast(
    (each) => each.upstream === upstream && each.result !== 'aborted',
  )
  const isAccepted = attempt?.result === 'answer' && !attempt.isDoubted && !attempt.violation
  return isAccepted && (latestBlock ?? -1) >= to
}

/**
 * The blocks of a query, up to the head. Null if only the node can tell them: another tag, an empty
 * range, or blocks above the head.
 */
export function rangeOf({ method: { block } }: Call, head: number): Range | null {
  if (block.kind !== 'range') return null
  const from = heightOf(block.from, head)
  const to = heightOf(block.to, head)
  if (from === null || to === null || from > to || from > head) return null
  return { from, to: Math.min(to, head) }
}

function heightOf(point: BlockPoint, head: number): number | null {
  if (point.kind === 'number') return point.number
  if (point.kind !== 'tag') return null
  return point.tag === 'latest' ? head : point.tag === 'earliest' ? 0 : null
}

const ownFields: ReadonlySet<string> = new Set(['address', 'topics', 'fromBlock', 'toBlock'])
/** A longer filter is split, but not cached. */
const maxFilterBytes = 256 * 1024

/**
 * Digest of the addresses and topics of a query, equal for filters that select the same logs. Null
 * for a filter with other members, or in an unusual form.
 */
export function filterOf({ request: { body, path, headers } }: Call): string | null {
  if (!(body instanceof Uint8Array) || body.length > maxFilterBytes) return null
  // Other headers or a path may select another node's view.
  if (headers.length > 2 || path !== '') return null
  const { params } = (parseJson(body) ?? {}) as { params?: unknown }
  const [filter, ...others] = Array.isArray(params) ? (params as unknown[]) : []
  if (typeof filter !== 'object' || filter === null || others.length > 0) return null
  if (!Object.keys(filter).every((name) => ownFields.has(name))) return null
  const { address = null, topics = null } = filter as Record<string, unknown>
  const addresses = canonical(address)
  const positions = topics === null ? [] : Array.isArray(topics) ? topics.map(canonical) : null
  if (addresses === null || !positions?.every((each) => each !== null)) return null
  // A trailing position that accepts any topic still demands that the log has one.
  return hash('sha256', JSON.stringify([addresses, positions]), 'base64url')
}

/** A set of alternatives in one spelling; empty for any. Null in an unknown form. */
function canonical(value: unknown): readonly string[] | null {
  const all: unknown[] = Array.isArray(value) ? value : value === null ? [] : [value]
  const isHex = (each: unknown) => typeof each === 'string' && /^0x[0-9a-f]+$/i.test(each)
  if (!all.every(isHex)) return null
  return [...new Set(all.map((each) => (each as string).toLowerCase()))].toSorted()
}

/** The call for a part of the range, with its own journal. */
export function pieceOf(
  call: Call,
  { from, to }: Range,
  own: { readonly only: readonly string[] | null } & Pick<Call, 'journal' | 'signal'>,
): Call {
  const { method, directives } = call
  const { batch: _, ...request } = call.request
  const [first = {}, last = {}] = method.blockPlaces?.places ?? []
  const begun = withHeight(request, first, toQuantity(from)) ?? request
  const number = (block: number) => ({ kind: 'number', number: block }) as const
  return {
    ...call,
    request: withHeight(begun, last, toQuantity(to)) ?? request,
    payload: undefined,
    method: {
      ...method,
      block: { kind: 'range', from: number(from), to: number(to) },
      // A node without the last block may return fewer logs instead of an error.
      floor: { block: Math.max(method.floor?.block ?? 0, to), shown: null },
    },
    directives: { ...directives, only: own.only },
    journal: own.journal,
    signal: own.signal,
  }
}

/** The result of another method at one of these upstreams; null for an error of any kind. */
export async function askNode(
  call: Call,
  { relay, chain, signal }: Pick<Call, 'signal'> & { readonly relay: Relay; readonly chain: Chain },
  method: string,
  params: readonly unknown[],
  only: readonly string[],
): Promise<{ readonly upstream: string; readonly result: unknown } | null> {
  const own = ownCall(call, chain, method, params)
  if (!own) return null
  own.journal.clientDeadlineMs = call.journal.deadlineMs
  const directives = { ...call.directives, only }
  try {
    const { incoming, refusal, upstream } = await relay({ ...own, signal, directives })
    if (refusal) release(incoming.body)
    const body = refusal ? null : await wholeBody(incoming.body, nodeLimits.wholeBytes)
    return body && { upstream, result: valueAt(parseJson(body), ['result']) }
  } catch (error) {
    if (error instanceof RelayError || isStreamFailure(error)) return null
    throw error
  }
}
