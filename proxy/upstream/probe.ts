// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable } from '../chain/failure-table.ts'
import { pageWordsOf, quoteOf, reasonOf } from '../chain/failure-words.ts'
import type { ChainInterface, ProbeCall, ResultPath, Verification } from '../chain/types.ts'
import { within } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { TransportError, wholeBody } from './wire.ts'
import { waitOf } from './wait-of.ts'
import type { Dialect, WholeAnswer } from './dialect.ts'
import type { PoolObserver } from './observer.ts'
import { limitOf, type OutcomeDetails, settle } from './outcome.ts'
import type { Upstream } from './upstream.ts'
import type { NodeUrl } from './node-url.ts'

/** Timeout of a probe without one in the spec. */
const probeTimeoutMs = 5_000
/** Longest answer of a probe. */
const maxAnswerBytes = 1024 * 1024

/** Result of a probe. `why` quotes the node's error, masked, and no results. */
export type ProbeAnswer =
  /** `at` returns other values of the answer. */
  | { readonly kind: 'value'; readonly value: unknown; readonly at: (path: ResultPath) => unknown }
  /** The node answered without the value. `failure` is set for an error. */
  | { readonly kind: 'refused'; readonly why: string; readonly failure?: FailureClass }
  /** A rate limit or a quota. */
  | (Pick<OutcomeDetails, 'limit' | 'retryAfterMs'> & {
      readonly kind: 'limited'
      readonly failure: FailureClass
      readonly why: string
    })
  /** No valid answer. `answered` is set if something else answered. */
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly why: string
      readonly answered?: boolean
    }

/** A result that reveals only the state of the URL. */
export type ProbeTrouble = Extract<ProbeAnswer, { kind: 'limited' | 'failed' }>

export interface ProbeOptions {
  readonly dialect: Dialect
  readonly failures: FailureTable
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called per request. */
  readonly sent?: () => void
  /** Called with the result, unless the node limits requests. */
  readonly ended?: (position: number, isFailed: boolean) => void
  /** Called with the code of the error if the router itself had no means to send it. */
  readonly exhausted?: (code: string) => void
}

/**
 * Sends a probe to each path at which a node may serve it, until one answers. The URL remembers
 * that path. Rejects only when the signal is aborted.
 * @returns the answer, or the result of the first path if none answers
 */
export async function probe(
  url: NodeUrl,
  call: ProbeCall,
  options: ProbeOptions,
): Promise<ProbeAnswer> {
  const answer = await probePaths(url, call, options)
  const isFailed = answer.kind === 'failed' && answer.failure.weight > 0
  if (answer.kind !== 'limited') options.ended?.(url.position, isFailed)
  return answer
}

async function probePaths(
  url: NodeUrl,
  call: ProbeCall,
  options: ProbeOptions,
): Promise<ProbeAnswer> {
  const { path, otherPaths = [] } = call
  const likeliest = url.servedPaths.get(path) ?? path
  let first: ProbeAnswer | null = null
  for (const at of new Set([likeliest, path, ...otherPaths])) {
    const answer = await probeOnce(url, { ...call, path: at }, options)
    if (answer.kind === 'value') url.servedPaths.set(path, at)
    if (!mayBeElsewhere(answer)) return answer
    first ??= answer
  }
  return first as ProbeAnswer
}

export function isTrouble(answer: ProbeAnswer): answer is ProbeTrouble {
  return answer.kind === 'limited' || answer.kind === 'failed'
}

/**
 * Starts a cooldown or records a failure after a probe.
 * @param purpose prefix of the failure reason
 */
export function applyProbe(
  upstream: Upstream,
  url: NodeUrl,
  answer: ProbeTrouble,
  purpose: 'probe' | 'health check',
): void {
  if (answer.kind === 'limited') {
    settle('limited', upstream, url, { ...answer, reason: answer.why })
    return
  }
  if (answer.failure.origin === 'router') return
  const failure = { name: answer.failure.name, weight: 1 }
  settle('failed', upstream, url, { failure, reason: `${purpose}: ${answer.why}` })
}

/** Whether the node may serve the probe at another path. */
function mayBeElsewhere(answer: ProbeAnswer): boolean {
  return answer.kind === 'refused' || (answer.kind === 'failed' && answer.answered === true)
}

async function probeOnce(
  url: NodeUrl,
  call: ProbeCall,
  options: ProbeOptions,
): Promise<ProbeAnswer> {
  const { dialect, failures, clock, signal, sent } = options
  sent?.()
  // Probes count but do not wait: no call can make them rare.
  url.limit?.begin()
  const budgetMs = url.timeoutMs ?? call.timeoutMs ?? probeTimeoutMs
  try {
    return await within(clock, signal, budgetMs, async (limited) => {
      const incoming = await url.transport.send(dialect.ask(call), limited)
      // Even a short answer may be a stream, since the gRPC status follows the message.
      const body = await wholeBody(incoming.body, maxAnswerBytes)
      if (body === null) return { kind: 'refused', why: 'the answer is too long' }
      return read({ ...incoming, body }, call.result, url, options)
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof TransportError)) throw error
    const fault = error.fault === 'aborted' ? 'timeout' : error.fault
    const failure = failures.ofTransport(fault)
    if (fault === 'exhausted') options.exhausted?.(error.message)
    const detail = fault === 'timeout' ? `no answer in ${budgetMs} ms` : error.message
    const why = reasonOf(failure, { httpStatus: null, code: null, detail })
    if (failure.cooldown) return limited(failure, why, error.retryAfterMs)
    return { kind: 'failed', failure, why }
  } finally {
    url.limit?.end()
  }
}

function read(
  answer: WholeAnswer,
  path: ResultPath,
  { mask }: NodeUrl,
  options: ProbeOptions,
): ProbeAnswer {
  const { dialect, failures } = options
  const { status: httpStatus, body } = answer
  const content = dialect.read(answer)
  if (content.kind === 'malformed') {
    const text = httpStatus >= 400 ? pageWordsOf(body, (words) => mask.text(words)) : ''
    const detail = [content.why, redirectOf(answer, mask), text].filter(Boolean).join(': ')
    const failure = failures.ofPage(httpStatus, body)
    return failed(answer, failure, reasonOf(failure, { httpStatus, code: null, detail }), options)
  }
  if (content.kind === 'error') {
    const { error } = content
    const failure = failures.ofNodeError(error)
    const why = reasonOf(failure, {
      ...error,
      httpStatus,
      detail: quoteOf(mask.text(error.message)),
    })
    // A temporary failure does not tell what the node is.
    if (failure.cooldown || (failure.origin === 'upstream' && failure.weight > 0))
      return failed(answer, failure, why, options)
    return { kind: 'refused', why, failure }
  }
  const value = content.at(path)
  if (value !== undefined && value !== null) return { kind: 'value', value, at: content.at }
  return { kind: 'refused', why: 'the answer does not hold what was asked for' }
}

/** `redirects to https://b.example`, without the path, which may be a key; else empty. */
function redirectOf({ status, headers }: WholeAnswer, mask: NodeUrl['mask']): string {
  const at = headers.findIndex((each, index) => index % 2 === 0 && /^location$/i.test(each))
  if (status < 300 || status > 399 || at < 0) return ''
  const target = URL.parse(headers[at + 1] ?? '')
  return `redirects to ${target === null ? 'another path' : quoteOf(mask.text(target.origin))}`
}

function failed(
  answer: WholeAnswer,
  failure: FailureClass,
  why: string,
  { clock }: ProbeOptions,
): ProbeTrouble {
  if (!failure.cooldown) return { kind: 'failed', failure, why, answered: true }
  return limited(failure, why, waitOf([...answer.headers, ...answer.trailers()], clock.wallMs()))
}

function limited(failure: FailureClass, why: string, headersMs: number | null): ProbeTrouble {
  return { kind: 'limited', failure, why, ...limitOf(failure, headersMs) }
}

/** Failure class of a method that a node lacks (`specs/failures/common.yml`). */
const unknownMethod = 'method-not-found'

/** Result of one verification of a URL. */
export interface UrlVerification {
  readonly verification: Verification
  readonly answer: ProbeAnswer
  /** Null if it passed. */
  readonly why: string | null
}

/**
 * Runs the verifications of the spec on one URL of an upstream and records the results on the URL.
 * If a verified URL cannot be reached, that is a failure, but its earlier results still apply.
 */
export async function verifyUrl(
  upstream: Upstream,
  url: NodeUrl,
  options: ProbeOptions & {
    readonly iface: ChainInterface
    /** Whether it may use the URL during a cooldown. */
    readonly isTrial?: boolean
    readonly observer: Pick<PoolObserver, 'verificationFailed'>
    readonly found?: (result: UrlVerification) => void
  },
): Promise<void> {
  const { iface, observer, isTrial = false } = options
  const report = (name: string, why: string) => {
    const masked = url.mask.text(why)
    url.refusal = `${name}: ${masked}`
    observer.verificationFailed(upstream.name, url.printable, name, masked)
  }
  const fail = (trouble: ProbeTrouble) => {
    if (trouble.kind === 'limited' || url.verified === true)
      return applyProbe(upstream, url, trouble, 'health check')
    url.isUnreached = true
    report('reach', trouble.why)
  }
  // A URL only for subscriptions may lack other methods, as Solana WebSockets do. The other URLs of
  // the upstream then verify the chain.
  const servesCalls = upstream.urls.includes(url)
  const wanted = iface.verifications.filter((each) => isApplicable(url, each))
  // Add-ons that the node lacks, and those that cannot be verified now.
  const lacking = new Set<string>()
  const unknown = new Set<string>()
  let archiveGap: string | null = null
  for (const verification of wanted) {
    const { name, severity, addon } = verification
    if (url.cooldown.active && !isTrial) return
    const answer = await probe(url, verification.call, options)
    if (!servesCalls && answer.kind === 'refused' && answer.failure?.name === unknownMethod)
      continue
    const why = answer.kind === 'value' ? mismatchOf(verification, answer.value) : answer.why
    options.found?.({ verification, answer, why })
    if (answer.kind === 'limited' || (answer.kind === 'failed' && isNeeded(verification)))
      return fail(answer)
    if (why === null) continue
    report(name, why)
    if (isNeeded(verification)) {
      url.verified = false
      return
    }
    if (addon === 'archive' && answer.kind !== 'failed') archiveGap = url.refusal
    if (addon !== null && severity === 'fail')
      (answer.kind === 'failed' ? unknown : lacking).add(addon)
  }
  if (wanted.length === 0 && iface.latestBlock) {
    if (url.cooldown.active && !isTrial) return
    // Without verifications, any answer proves that the node is up.
    const answer = await probe(url, iface.latestBlock, options)
    if (isTrouble(answer)) return fail(answer)
  }
  // Results that cannot be verified now stay unchanged.
  const shown: ReadonlySet<string> = url.verified === true ? url.addons : new Set()
  url.openAddons = unknown.difference(lacking).difference(shown)
  // A trial has shown that the cooldown is over.
  url.cooldown.end()
  url.addons = new Set(url.declaredAddons).difference(lacking).difference(url.openAddons)
  url.archiveGap = archiveGap
  url.verified = true
}

/** Whether a failure rejects the URL: without an add-on it still serves everything else. */
function isNeeded({ severity, addon }: Verification): boolean {
  return severity === 'fail' && addon === null
}

/** Names of the verifications that the URLs of an upstream may fail. */
export function verificationsOf(
  urls: readonly NodeUrl[],
  { verifications }: ChainInterface,
): readonly string[] {
  const own = verifications.filter((each) => urls.some((url) => isApplicable(url, each)))
  return [...new Set(['reach', 'head', ...own.map(({ name }) => name)])]
}

function isApplicable(url: NodeUrl, { name, addon }: Verification): boolean {
  const isSkipped = url.skipVerifications.includes('*') || url.skipVerifications.includes(name)
  return !isSkipped && (addon === null || url.declaredAddons.includes(addon))
}

/**
 * Compares values as text, and hex or decimal numbers by value.
 * @returns the expected and the actual value; null if they are equal
 */
function mismatchOf({ expected }: Verification, value: unknown): string | null {
  const got = typeof value === 'string' ? value : JSON.stringify(value)
  if (expected === null || got === expected || sameNumber(got, expected)) return null
  return `expected ${expected}, the node reported ${quoteOf(got, 80)}`
}

function sameNumber(a: string, b: string): boolean {
  const form = /^(0x[0-9a-f]+|[0-9]+)$/i
  return form.test(a) && form.test(b) && BigInt(a) === BigInt(b)
}
