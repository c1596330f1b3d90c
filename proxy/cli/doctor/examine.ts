// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface, ProbeCall, Verification } from '../../chain/types.ts'
import { within } from '../../clock/cancellation.ts'
import type { Clock } from '../../clock/clock.ts'
import { withHeight } from '../../relay/pin.ts'
import { familyOf } from '../../subscription/families/family-of.ts'
import { SharedSource } from '../../subscription/source.ts'
import { NodeRefused } from '../../subscription/subscriptions.ts'
import { type Dialect, toBlockNumber } from '../../upstream/dialect.ts'
import {
  isNeeded,
  isTrouble,
  mismatch,
  probe,
  type ProbeAnswer,
  unknownMethod,
} from '../../upstream/probe.ts'
import type { NodeUrl, SocketUrl } from '../../upstream/upstream.ts'
import { TransportError } from '../../upstream/wire.ts'

/** What came of one verification of the spec. */
export interface Checked {
  readonly verification: Verification
  /** Null: it passed. */
  readonly why: string | null
  /** The node does not know the method. */
  readonly isUnknown: boolean
  /** No answer came that shows it. */
  readonly isOpen: boolean
  /** What the node said, where it said something. */
  readonly value: unknown
}

/** What one URL has shown. Holds no key and no payload but the values that verifications are about. */
export interface Facts {
  /** Why it could not be asked, or not to the end; null: it was. */
  trouble: Extract<ProbeAnswer, { kind: 'limited' | 'failed' }> | 'out-of-time' | null
  /** The least time of an answer over a connection that is open, in milliseconds. */
  latencyMs: number | null
  head: { readonly block: number; readonly atMs: number } | null
  readonly checks: Checked[]
  /** How many blocks behind the head it has state of at least; `all`; null where that cannot be asked. */
  depth: number | 'all' | null
  /** `yes`, or why not; null of a URL that is no WebSocket, or of a chain without subscriptions. */
  subscribes: string | null
}

export interface ExamineOptions {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly dialect: Dialect
  readonly clock: Clock
  readonly isSocket: boolean
}

/** One URL is asked for no longer than this. */
const maxMs = 30_000
const latencySamples = 3
/** How deep it is asked for old state where it does not have all, the deepest first. */
const depths = [1_000_000, 100_000, 10_000, 1_000, 100]
const subscribeMs = 5_000

/** Asks one URL what the chain's spec asks before an upstream may serve, and more. Never rejects for what a node does. */
export async function examine(url: NodeUrl, options: ExamineOptions): Promise<Facts> {
  const { clock, chain, iface, dialect, isSocket } = options
  const facts: Facts = {
    ...{ trouble: null, latencyMs: null, head: null, checks: [], depth: null, subscribes: null },
  }
  const outOfTime = new Error('out of time')
  const run = async (signal: AbortSignal) => {
    const probing = { dialect, clock, failures: chain.failures, signal }
    const ask = (call: ProbeCall) => probe(url, call, probing)
    const one = { ...options, url, facts, signal, ask }
    // It ends as soon as the URL itself is in trouble: the other questions would show no more.
    if (iface.latestBlock && !(await askHead(one, iface.latestBlock))) return
    for (const verification of iface.verifications) if (!(await verify(one, verification))) return
    if (isSocket) facts.subscribes = await subscribe(one)
    facts.depth = await findDepth(one)
  }
  try {
    await within(clock, new AbortController().signal, maxMs, run, () => outOfTime)
  } catch (error) {
    if (error !== outOfTime) throw error
    facts.trouble = 'out-of-time'
  }
  return facts
}

interface Examination extends ExamineOptions {
  readonly url: NodeUrl
  readonly facts: Facts
  readonly signal: AbortSignal
  readonly ask: (call: ProbeCall) => Promise<ProbeAnswer>
}

async function askHead({ clock, facts, ask }: Examination, call: ProbeCall): Promise<boolean> {
  // The first also opens the connection.
  for (let each = 0; each <= latencySamples; each++) {
    const askedMs = clock.nowMs()
    const answer = await ask(call)
    if (isTrouble(answer)) facts.trouble = answer
    // A URL for subscriptions alone need not know the method.
    if (answer.kind !== 'value') return facts.trouble === null
    const atMs = clock.nowMs()
    const block = toBlockNumber(answer.value, call.result.encoding)
    if (block !== null) facts.head = { block, atMs }
    const tookMs = Math.round((atMs - askedMs) * 10) / 10
    if (each > 0) facts.latencyMs = Math.min(facts.latencyMs ?? Infinity, tookMs)
  }
  return true
}

async function verify(one: Examination, verification: Verification): Promise<boolean> {
  const { url, facts, ask } = one
  const { name, call } = verification
  if (url.skipVerifications.some((each) => each === '*' || each === name)) return true
  const answer = await ask(call)
  const isOpen = isTrouble(answer)
  if (isOpen && (answer.kind === 'limited' || isNeeded(verification))) facts.trouble = answer
  if (facts.trouble !== null) return false
  const isUnknown = answer.kind === 'refused' && answer.failure?.name === unknownMethod
  const value = answer.kind === 'value' ? answer.value : undefined
  const said = answer.kind === 'refused' || answer.kind === 'failed' ? answer.why : null
  const why = value === undefined ? said : mismatch(verification, value)
  facts.checks.push({ verification, why, isUnknown, isOpen, value })
  return true
}

/** How much old state it has: asked as the spec verifies an archive, about other blocks. */
async function findDepth({ iface, dialect, facts, ask }: Examination): Promise<Facts['depth']> {
  const { head, checks } = facts
  const archive = checks.find(({ verification }) => verification.addon === 'archive')
  if (!archive || !head) return null
  if (archive.why === null) return 'all'
  const { call } = archive.verification
  // Some name their earliest block.
  const earliest = toBlockNumber(archive.value, call.result.encoding)
  if (earliest !== null) return Math.max(0, head.block - earliest)
  if (iface.apiInterface !== 'jsonrpc' || call.body === null) return null
  const { method, params } = JSON.parse(call.body) as { method: string; params: unknown }
  const { blockPlaces } = iface.classify({ apiInterface: 'jsonrpc', method, params })
  const [place] = blockPlaces?.places ?? []
  for (const depth of place ? depths.filter((each) => each < head.block) : []) {
    const height = head.block - depth
    const written = blockPlaces?.isHex ? `0x${height.toString(16)}` : height
    const changed = place && withHeight(dialect.ask(call), place, written)
    if (!(changed?.body instanceof Uint8Array)) return null
    const answer = await ask({ ...call, body: Buffer.from(changed.body).toString() })
    if (answer.kind === 'value') return depth
  }
  return place ? 0 : null
}

/** Whether it accepts a subscription to the chain's head, which is ended at once. */
async function subscribe({ chain, iface, clock, url, signal }: Examination) {
  const family = familyOf(chain, iface, () => Promise.reject(new Error('never asked')), clock)
  const request = family.head === null ? undefined : family.readers[family.head]?.request
  if (!request) return null
  const source = new SharedSource(request, {
    ...{ upstream: { name: '' }, url: url as SocketUrl, failures: chain.failures },
    ...{ observer: { upstreamChanged() {} }, ended() {} },
  })
  try {
    const joined = await within(clock, signal, subscribeMs, (limited) => source.join(limited))
    joined.close()
    return 'yes'
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NodeRefused) return 'the node refuses it'
    if (!(error instanceof TransportError)) throw error
    return error.fault === 'aborted' ? 'no answer' : error.message
  }
}
