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
import type { NodeUrl, Upstream } from '../upstream/upstream.ts'
import { header as headerOf, type Incoming } from '../upstream/wire.ts'
import type { AttemptRecord, Call } from './call.ts'
import type { RelayContext } from './relay-context.ts'
import type { ReplyContent } from './reply.ts'

/**
 * The number of the block that an answer shows.
 * @param finding what the answer is; null where nothing is remembered of it
 * @returns null where it shows none, or would have to be parsed for it and is too long
 */
export function shownBlock(
  incoming: Incoming,
  finding: ReplyContent | null,
  place: ResultPath,
  dialect: Dialect,
): number | null {
  const at = valuesIn(incoming, finding, dialect)
  return at && numberAt(place, at)
}

/** What an attempt tells of its node. */
interface Attempted {
  readonly upstream: Upstream
  readonly url: NodeUrl
  readonly record: AttemptRecord
}

/**
 * Tells the tracker what an answer shows of the chain.
 * @param refusal the failure class of an error; null for a result
 * @param from the attempt whose node gave the answer. Absent: another replica stored it
 * @returns the number of the block that the answer shows; null if it shows no new block
 */
export function observeChain(
  call: Call,
  incoming: Incoming,
  { pool, dialect }: Pick<RelayContext, 'pool' | 'dialect'>,
  refusal: FailureClass | null,
  from?: Attempted,
): number | null {
  const { tracker } = pool
  const { kind, known, showsUnnamed, tellsTip, block: wanted } = call.method
  // A revert proves that its block exists.
  const provesBlock = refusal && isRevert(refusal) && wanted.kind === 'number'
  if (refusal) return provesBlock && tracker.showBlock(plain(wanted.number)) ? wanted.number : null
  // An unknown local call may have changed anything.
  if (kind === 'local' && !known) tracker.branchChanged()
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
  return tracker.showBlock(block, from?.upstream) ? block.number : null
}

/** A node may have executed this call, whatever it answers. */
export function observeWrite({ method: { kind, stateful } }: Call, tracker: ChainTracker): void {
  if (kind !== 'read' && stateful === null) tracker.writes += 1
}

/** The contract's own answer: any node gives it in that state. */
export function isRevert({ name }: FailureClass): boolean {
  return name.startsWith('execution-reverted')
}

/**
 * The block that a result shows, or that it implies: a result about a numbered block proves that the block exists.
 * An answer about the latest block shows the node's head.
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
  // Most calls are about the past, where no block is replaced.
  const past = place?.hash ? known - rememberedBlocks : known
  if (!isHead && block.kind !== 'hash' && (lastPoint(block) ?? Infinity) <= past) return null
  const finding = reader.findingOf?.(incoming) ?? null
  const at = place && body instanceof Uint8Array ? valuesIn(incoming, finding, dialect) : null
  // The result shows its block, but is too long to be read.
  if (place && at === null)
    return block.kind === 'number' && block.number > known ? plain(block.number) : 'unnamed'
  const tag = block.kind === 'tag' ? block.tag : null
  const isByHash = byHash || block.kind === 'hash'
  // The answer names its block by its hash alone.
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
  if (isPendingTransaction || saysNothing(incoming, finding, dialect)) return null
  return block.kind === 'number' ? plain(block.number) : 'unnamed'
}

/** The hash by which a call requests its block or transaction; null if it does not begin with one in hex. */
function requestedHash({ method: { block, byHash }, payload, request }: Call): string | null {
  if (block.kind === 'hash') return toHash(block.hash)
  if (!byHash) return null
  const from = payload ?? request.body
  const text = from instanceof Uint8Array ? bufferOf(from).toString('latin1', 0, 512) : request.path
  return toHash(/[0-9a-f]{64}/i.exec(text)?.[0])
}

const plain = (number: number) => ({ number, hash: null, parent: null, isByHash: false })

/** Whether an answer is null or empty. */
export function saysNothing(incoming: Incoming, finding: ReplyContent | null, dialect: Dialect) {
  const { body } = incoming
  if (!(body instanceof Uint8Array)) return false
  return isNull(finding, body) || isNothing(incoming, finding, dialect)
}

type ValueAt = (place: ResultPath) => unknown

/** Reads values of a result; null if it is too long to parse. */
function valuesIn(
  incoming: Incoming,
  finding: ReplyContent | null,
  dialect: Dialect,
): ValueAt | null {
  // Parsed for a check already.
  if (finding?.kind === 'result' && finding.parsed !== undefined)
    return ({ path, header }) =>
      header === undefined ? valueAt(finding.parsed, path) : headerOf(incoming.headers, header)
  return valuesOf(dialect, incoming)
}

function numberAt(place: ResultPath, at: ValueAt): number | null {
  const { path, encoding, span } = place
  const number = toBlockNumber(at(place), encoding)
  // A list may run either way.
  if (path.includes(-1)) {
    const first = path.map((key) => (key === -1 ? 0 : key))
    const other = toBlockNumber(at({ path: first, encoding }), encoding)
    return number !== null && number > (other ?? -1) ? number : other
  }
  if (number === null || !span) return number
  const items = at({ path: span, encoding: 'text' })
  return Array.isArray(items) && items.length > 0 ? number + items.length - 1 : null
}

export function isNull(finding: ReplyContent | null, body: Uint8Array): boolean {
  if (finding?.kind !== 'result') return spells(body, 0, body.length, 'null')
  return finding.isNull === true || finding.parsed === null
}

/** Longer answers are not empty. */
const maxNothingBytes = 1024

/** Whether an answer is a list, a page or a message without items. */
export function isNothing(
  incoming: Incoming,
  finding: ReplyContent | null,
  dialect: Dialect,
): boolean {
  const { body } = incoming
  if (finding?.kind === 'result' && finding.parsed !== undefined)
    return holdsNothing(finding.parsed)
  if (!(body instanceof Uint8Array) || body.length > maxNothingBytes) return false
  const said = dialect.read({ ...incoming, body })
  return said.kind === 'answer' && holdsNothing(said.at({ path: [], encoding: 'text' }))
}

/** An empty list, an empty message, or a page: an object with lists, all of them empty. A value of zero is a value. */
function holdsNothing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === ''
  return (hasList(value) || Object.keys(value).length === 0) && isBlank(value)
}

function hasList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.values(value).some(hasList)
}

/** A page also has a count and the key of the next page. */
function isBlank(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isBlank)
  return value === null || value === '' || value === 0 || value === '0'
}
