// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable } from '../chain/failure-table.ts'
import type { ChainInterface, ProbeCall, ResultPath, Verification } from '../chain/types.ts'
import { within } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { header, parseRetryAfter, TransportError, wholeBody } from './wire.ts'
import type { Dialect, WholeAnswer } from './dialect.ts'
import type { PoolObserver } from './observer.ts'
import type { NodeUrl, Upstream } from './upstream.ts'

/** How long a probe may take when the spec does not say. */
const probeTimeoutMs = 5_000
/** No probe needs a longer answer. */
const maxAnswerBytes = 1024 * 1024

/** What came of a question of the router's own. `why` holds no payload. */
export type ProbeAnswer =
  /** `at` reads other values of the answer. */
  | { readonly kind: 'value'; readonly value: unknown; readonly at: (path: ResultPath) => unknown }
  /** The node answered, but not with what was asked for. `failure`: where it was an error. */
  | { readonly kind: 'refused'; readonly why: string; readonly failure?: FailureClass }
  /** 429 and its kin. */
  | {
      readonly kind: 'limited'
      readonly failure: FailureClass
      readonly why: string
      readonly retryAfterMs: number | null
    }
  /** No answer in the protocol. `answered`: something did answer, in another form. */
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly why: string
      readonly answered?: boolean
    }

/** An answer that shows the state of the URL, and nothing of what was asked for. */
export type ProbeTrouble = Extract<ProbeAnswer, { kind: 'limited' | 'failed' }>

export interface ProbeOptions {
  readonly dialect: Dialect
  readonly failures: FailureTable
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called for each request. */
  readonly sent?: () => void
}

/**
 * Asks a URL one question at each path under which a node may serve it, until one of them answers. The URL
 * remembers which one that was. Never rejects, except when the signal is aborted.
 * @returns when none answers it, what came of the path that was asked first
 */
export async function probe(
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
 * What follows for a URL from trouble with a question of the router's own.
 * @param purpose begins the reason of a failure
 */
export function applyProbe(
  upstream: Upstream,
  url: NodeUrl,
  answer: ProbeTrouble,
  purpose: 'probe' | 'health check',
): void {
  if (answer.kind === 'limited') url.cooldown.begin(answer.retryAfterMs)
  else upstream.failed(url, { name: url.mask.text(`${purpose}: ${answer.why}`), weight: 1 })
}

/** A node answered, but does not know the question, or not at this path. */
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
  const budgetMs = url.timeoutMs ?? call.timeoutMs ?? probeTimeoutMs
  try {
    return await within(clock, signal, budgetMs, async (limited) => {
      const incoming = await url.transport.send(dialect.ask(call), limited)
      // A short answer may come as a stream all the same: gRPC's status is seldom much later than its message.
      const body = await wholeBody(incoming.body, maxAnswerBytes)
      if (body === null) return { kind: 'refused', why: 'the answer is too long' }
      return read({ ...incoming, body }, call.result, options)
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof TransportError)) throw error
    const fault = error.fault === 'aborted' ? 'timeout' : error.fault
    const failure = failures.ofTransport(fault)
    if (failure.holdOff) return limited(failure, error.retryAfterMs)
    const isSaidInWords = fault === 'tls' || fault === 'protocol'
    return { kind: 'failed', failure, why: isSaidInWords ? error.message : fault }
  }
}

function read(answer: WholeAnswer, path: ResultPath, options: ProbeOptions): ProbeAnswer {
  const { dialect, failures } = options
  const found = dialect.read(answer)
  if (found.kind === 'malformed')
    return failed(answer, failures.ofPage(answer.status, answer.body), found.why, options)
  if (found.kind === 'error') {
    const failure = failures.ofNodeError(found.error)
    // A failure of the moment does not show what the node is.
    if (failure.holdOff || (failure.origin === 'upstream' && failure.weight > 0))
      return failed(answer, failure, failure.name, options)
    const why = `the node answered with error ${found.error.code}`
    return { kind: 'refused', why, failure }
  }
  const value = found.at(path)
  if (value !== undefined && value !== null) return { kind: 'value', value, at: found.at }
  return { kind: 'refused', why: 'the answer does not hold what was asked for' }
}

function failed(
  { headers }: WholeAnswer,
  failure: FailureClass,
  why: string,
  { clock }: ProbeOptions,
): ProbeTrouble {
  if (!failure.holdOff) return { kind: 'failed', failure, why, answered: true }
  return limited(failure, parseRetryAfter(header(headers, 'retry-after'), clock.wallMs()))
}

function limited(failure: FailureClass, retryAfterMs: number | null): ProbeTrouble {
  return { kind: 'limited', failure, why: failure.name, retryAfterMs }
}

/** What a node says to a method that it does not have (`specs/failures/common.yml`). */
const unknownMethod = 'method-not-found'

/** What one verification has shown of a URL. */
export interface UrlVerification {
  readonly verification: Verification
  readonly answer: ProbeAnswer
  /** Null: it passed. */
  readonly why: string | null
}

/**
 * Asks one URL of an upstream for everything that the spec wants to see before it may serve, and notes on it what
 * came of that. One that was verified before and cannot be asked now has failed, but what it has shown still stands.
 */
export async function verifyUrl(
  upstream: Upstream,
  url: NodeUrl,
  options: ProbeOptions & {
    readonly iface: ChainInterface
    readonly observer: Pick<PoolObserver, 'verificationFailed'>
    readonly found?: (finding: UrlVerification) => void
  },
): Promise<void> {
  const { iface, observer } = options
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
  // A URL for subscriptions alone need not know any other method, as the WebSockets of Solana's nodes do not;
  // which chain it is of, the other URLs of its upstream show.
  const servesCalls = upstream.urls.includes(url)
  const wanted = iface.verifications.filter((each) => isWantedOf(url, each))
  // Add-ons that its node turns out not to have, and those that it cannot be asked about now.
  const lacking = new Set<string>()
  const unknown = new Set<string>()
  for (const verification of wanted) {
    const { name, severity, addon } = verification
    if (url.cooldown.active) return
    const answer = await probe(url, verification.call, options)
    if (!servesCalls && answer.kind === 'refused' && answer.failure?.name === unknownMethod)
      continue
    const why = answer.kind === 'value' ? mismatch(verification, answer.value) : answer.why
    options.found?.({ verification, answer, why })
    if (answer.kind === 'limited' || (answer.kind === 'failed' && isNeeded(verification)))
      return fail(answer)
    if (why === null) continue
    report(name, why)
    if (isNeeded(verification)) {
      url.verified = false
      return
    }
    if (addon !== null && severity === 'fail')
      (answer.kind === 'failed' ? unknown : lacking).add(addon)
  }
  if (wanted.length === 0 && iface.latestBlock) {
    if (url.cooldown.active) return
    // With nothing to verify, any answer shows that something is there.
    const answer = await probe(url, iface.latestBlock, options)
    if (isTrouble(answer)) return fail(answer)
  }
  // What cannot be asked now stands as it stood.
  const shown: ReadonlySet<string> = url.verified === true ? url.addons : new Set()
  url.openAddons = unknown.difference(lacking).difference(shown)
  url.addons = new Set(url.declaredAddons).difference(lacking).difference(url.openAddons)
  url.verified = true
}

/** Without an add-on an upstream still serves everything else. */
function isNeeded({ severity, addon }: Verification): boolean {
  return severity === 'fail' && addon === null
}

function isWantedOf(url: NodeUrl, { name, addon }: Verification): boolean {
  const isSkipped = url.skipVerifications.includes('*') || url.skipVerifications.includes(name)
  return !isSkipped && (addon === null || url.declaredAddons.includes(addon))
}

/**
 * Values are compared as text; numbers in hex or decimal by their value.
 * @returns what was wanted and what came; null where they are the same
 */
function mismatch({ expected }: Verification, value: unknown): string | null {
  const got = typeof value === 'string' ? value : JSON.stringify(value)
  if (expected === null || got === expected || sameNumber(got, expected)) return null
  return `wanted ${expected}, the node says ${printable(got)}`
}

function sameNumber(a: string, b: string): boolean {
  const form = /^(0x[0-9a-f]+|[0-9]+)$/i
  return form.test(a) && form.test(b) && BigInt(a) === BigInt(b)
}

/** A node's word in a log line: short, and without anything that is not plain text. */
function printable(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}...` : text
  return short.replaceAll(/[^\x20-\x7e]/g, '?')
}
