// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass } from '../chain/failure-table.ts'
import { lastPoint } from '../chain/finality.ts'
import type { ResultPath } from '../chain/types.ts'
import { bufferOf, spells } from '../json/scanner.ts'
import { valueAt } from '../json/value-at.ts'
import { toHash } from '../json/values.ts'
import type { ChainTracker } from '../tracker/chain-tracker.ts'
import { rememberedBlocks, type ShownBlock } from '../tracker/recent-blocks.ts'
import { type Dialect, toBlockNumber, valuesOf } from '../upstream/dialect.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { header as headerOf, type Incoming } from '../upstream/wire.ts'
import { type AttemptRecord, type Call, isRead } from './call.ts'
import type { RelayContext } from './relay-context.ts'
import type { ReplyContent } from './reply.ts'
import type { NodeUrl } from '../upstream/node-url.ts'

/**
 * The block number that an answer reveals.
 * @param content of the answer; null if it was not read before
 * @returns null if it reveals none or is too long to parse
 */
export function shownBlock(
  incoming: Incoming,
  content: ReplyContent | null,
  place: ResultPath,
  dialect: Dialect,
): number | null {
  const at = valuesIn(incoming, content, dialect)
  return at && numberAt(place, at)
}

/** The attempt behind an answer. */
interface Attempted {
  readonly upstream: Upstream
  readonly url: NodeUrl
  readonly record: AttemptRecord
}

/**
 * Reports to the tracker what an answer reveals about the chain.
 * @param refusal failure class of an error; null for a result
 * @param from the attempt that got the answer; absent if another replica stored it
 * @returns the number of the new block that the answer reveals; null if there is none
 */
export function observeChain(
  call: Call,
  incoming: Incoming,
  { pool, dialect }: Pick<RelayContext, 'pool' | 'dialect'>,
  refusal: FailureClass | null,
  from?: Attempted,
): number | null {
  const { tracker } = pool
  const { kind, known, operatorOnly, showsUnnamed, tellsTip, block: wanted } = call.method
  // A revert proves that its block exists.
  const provesBlock = refusal && isRevert(refusal) && wanted.kind === 'number'
  if (refusal) return provesBlock && tracker.showBlock(plain(wanted.number)) ? wanted.number : null
  // An unknown call about a node itself may have changed the chain of a test node.
  if ((kind === 'local' || operatorOnly) && !known) tracker.branchChanged()
  else observeWrite(call, tracker)
  const block = showsUnnamed ? 'unnamed' : revealedBy(call, incoming, tracker, dialect)
  if (block === null) return null
  const hash = block === 'unnamed' || block.isByHash ? requestedHash(call) : null
  if (block === 'unnamed') {
    if (hash === null) tracker.revise()
    else tracker.showHash(hash, call.method.name)
    return null
  }
  if (hash !== null) tracker.rememberHash(hash)
  if ((tellsTip || block.isHead) && from)
    pool.observeHead(from.upstream, block.number, from.record.startedMs, from.url)
  const { branch } = tracker
  const isPlausible = tracker.showBlock(block, from?.upstream)
  // After a reorg, or if the node behind the URL has been replaced by one of another chain.
  if (tracker.branch !== branch) from?.upstream.onSuspect?.(from.url)
  return isPlausible ? block.number : null
}

/** Records that a node may have executed the call, whatever it returns. */
export function observeWrite(call: Call, tracker: ChainTracker): void {
  if (!isRead(call) && call.method.stateful === null) tracker.writes += 1
}

/** Whether the contract reverted, which any node reports for the same state. */
export function isRevert({ name }: FailureClass): boolean {
  return name.startsWith('execution-reverted')
}

/**
 * The block that a result contains or implies: a result about a numbered block proves that the
 * block exists, and an answer about the latest block reveals the node's head.
 */
function revealedBy(
  { method, reader }: Call,
  incoming: Incoming,
  tracker: ChainTracker,
  dialect: Dialect,
): (ShownBlock & { readonly isHead?: true }) | 'unnamed' | null {
  const { tellsTip, showsBlock, impliesBlock, block, byHash, tipHeader } = method
  const { body } = incoming
  const place = tellsTip ?? showsBlock
  const isHead = tellsTip !== null
  const known = tracker.highestShown
  const own = isHead || tipHeader === undefined ? null : headerOf(incoming.headers, tipHeader)
  const headNow = toBlockNumber(own, 'decimal')
  if (headNow !== null) return headNow > known ? { ...plain(headNow), isHead: true } : null
  // Most calls concern old blocks, which no reorg replaces.
  const past = place?.hash ? known - rememberedBlocks : known
  if (!isHead && block.kind !== 'hash' && (lastPoint(block) ?? Infinity) <= past) return null
  const content = reader.contentOf?.(incoming) ?? null
  const at = place && body instanceof Uint8Array ? valuesIn(incoming, content, dialect) : null
  // The result contains its block, but is too long to parse.
  if (place && at === null)
    return block.kind === 'number' && block.number > known ? plain(block.number) : 'unnamed'
  const tag = block.kind === 'tag' ? block.tag : null
  const isByHash = byHash || block.kind === 'hash'
  // The answer identifies its block only by hash.
  if (at && place && place.path === place.hash) {
    const hash = toHash(at(place))
    const number = block.kind === 'number' ? block.number : tracker.numberOf(hash)
    if (hash !== null && number === null) tracker.showHash(hash)
    return hash === null || number === null ? null : { number, hash, parent: null, isByHash }
  }
  const shown = at && place ? numberAt(place, at) : null
  if (shown !== null && place) {
    const isPending = tag === 'pending'
    const number = shown - (place.ahead ?? 0) - (isPending ? 1 : 0)
    const hashAt = (path: ResultPath['path'] | null | undefined) =>
      path ? toHash(at?.({ path, encoding: 'text' })) : null
    // The parent of a pending block is the latest block.
    const hash = hashAt(isPending ? place.parent : place.hash)
    const parent = isPending ? null : hashAt(place.parent)
    if (tag === 'safe' || tag === 'finalized') tracker.showTagged(tag, number)
    if (!isHead && number <= known && hash === null) return null
    return { number, hash, parent, isByHash }
  }
  if (!impliesBlock) return null
  if (block.kind === 'number' && block.number <= known) return null
  if (block.kind === 'hash' && tracker.numberOf(toHash(block.hash)) !== null) return null
  // A pending transaction has no block yet.
  const isPendingTransaction = at && place && at(place) === null
  if (isPendingTransaction || isNullOrEmpty(incoming, content, dialect)) return null
  return block.kind === 'number' ? plain(block.number) : 'unnamed'
}

/** The hash of the block or transaction that a call requests; null if it is not in hex. */
function requestedHash({ method: { block, byHash }, payload, request }: Call): string | null {
  if (block.kind === 'hash') return toHash(block.hash)
  if (!byHash) return null
  const from = payload ?? request.body
  const text = from instanceof Uint8Array ? bufferOf(from).toString('latin1', 0, 512) : request.path
  return toHash(/[0-9a-f]{64}/i.exec(text)?.[0])
}

const plain = (number: number) => ({ number, hash: null, parent: null, isByHash: false })

/** Whether an answer is null or empty. */
export function isNullOrEmpty(incoming: Incoming, content: ReplyContent | null, dialect: Dialect) {
  const { body } = incoming
  if (!(body instanceof Uint8Array)) return false
  return isNull(content, body) || isEmptyResult(incoming, content, dialect)
}

type ValueAt = (place: ResultPath) => unknown

/** Reads values of a result; null if it is too long to parse. */
function valuesIn(
  incoming: Incoming,
  content: ReplyContent | null,
  dialect: Dialect,
): ValueAt | null {
  // An integrity check has parsed it already.
  if (content?.kind === 'result' && content.parsed !== undefined)
    return ({ path, header }) =>
      header === undefined ? valueAt(content.parsed, path) : headerOf(incoming.headers, header)
  return valuesOf(dialect, incoming)
}

function numberAt(place: ResultPath, at: ValueAt): number | null {
  const { path, encoding, span } = place
  const number = toBlockNumber(at(place), encoding)
  // A list may be in ascending or descending order.
  if (path.includes(-1)) {
    const first = path.map((key) => (key === -1 ? 0 : key))
    const other = toBlockNumber(at({ path: first, encoding }), encoding)
    return number !== null && number > (other ?? -1) ? number : other
  }
  if (number === null || !span) return number
  const items = at({ path: span, encoding: 'text' })
  return Array.isArray(items) && items.length > 0 ? number + items.length - 1 : null
}

export function isNull(content: ReplyContent | null, body: Uint8Array): boolean {
  if (content?.kind !== 'result') return spells(body, 0, body.length, 'null')
  return content.isNull === true || content.parsed === null
}

/** Longer answers are never empty. */
const maxEmptyBytes = 1024

/** Whether an answer is an empty list, page or message. */
export function isEmptyResult(
  incoming: Incoming,
  content: ReplyContent | null,
  dialect: Dialect,
): boolean {
  const { body } = incoming
  if (content?.kind === 'result' && content.parsed !== undefined)
    return isEmptyValue(content.parsed)
  if (!(body instanceof Uint8Array) || body.length > maxEmptyBytes) return false
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' && isEmptyValue(said.at({ path: [], encoding: 'text' }))
}

/** An empty list or message, or a page whose lists are all empty. Zero is a value. */
function isEmptyValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === ''
  return (hasList(value) || Object.keys(value).length === 0) && isBlank(value)
}

function hasList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.values(value).some(hasList)
}

/** Whether nothing but a zero count or an empty page key is left. */
function isBlank(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isBlank)
  return value === null || value === '' || value === 0 || value === '0'
}
