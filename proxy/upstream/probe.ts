// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable } from '../chain/failure-table.ts'
import type { ProbeCall, ResultPath } from '../chain/types.ts'
import { within } from '../clock/cancellation.ts'
import type { Clock } from '../clock/clock.ts'
import { header, parseRetryAfter, TransportError, wholeBody } from './wire.ts'
import type { Dialect, WholeAnswer } from './dialect.ts'
import type { NodeUrl, Upstream } from './upstream.ts'

/** How long a probe may take when the spec does not say. */
const probeTimeoutMs = 5_000
/** No probe needs a longer answer. */
const maxAnswerBytes = 1024 * 1024

/** What came of a question of the router's own. `why` holds no payload. */
export type ProbeAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  /** The node answered, but not with what was asked for. `failure`: where it was an error. */
  | { readonly kind: 'refused'; readonly why: string; readonly failure?: FailureClass }
  /** 429 and its kin. */
  | {
      readonly kind: 'limited'
      readonly failure: FailureClass
      readonly retryAfterMs: number | null
    }
  /** No answer in the protocol. `answered`: something did answer, in another form. */
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly why: string
      readonly answered?: boolean
    }

/** An answer that tells of the URL, and not of what was asked for. */
export type ProbeTrouble = Extract<ProbeAnswer, { kind: 'limited' | 'failed' }>

/** `probe` with everything given but the URL and the question. */
export type Probe = (url: NodeUrl, call: ProbeCall) => Promise<ProbeAnswer>

export interface ProbeOptions {
  readonly dialect: Dialect
  readonly failures: FailureTable
  readonly clock: Clock
  readonly signal: AbortSignal
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
  else upstream.failed(url, { name: `${purpose}: ${answer.why}`, weight: 1 })
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
  const { dialect, failures, clock, signal } = options
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
    if (failure.holdOff) return { kind: 'limited', failure, retryAfterMs: error.retryAfterMs }
    return { kind: 'failed', failure, why: fault === 'tls' ? error.message : fault }
  }
}

function read(answer: WholeAnswer, path: ResultPath, options: ProbeOptions): ProbeAnswer {
  const { dialect, failures } = options
  const found = dialect.read(answer)
  if (found.kind === 'malformed')
    return failed(answer, failures.ofPage(answer.status, answer.body), found.why, options)
  if (found.kind === 'error') {
    const failure = failures.ofNodeError(found.error)
    // The node's trouble of the moment tells nothing of what the node is.
    if (failure.holdOff || (failure.whose === 'upstream' && failure.weight > 0))
      return failed(answer, failure, failure.name, options)
    const why = `the node answered with error ${found.error.code}`
    return { kind: 'refused', why, failure }
  }
  const value = found.at(path)
  if (value !== undefined && value !== null) return { kind: 'value', value }
  return { kind: 'refused', why: 'the answer does not hold what was asked for' }
}

function failed(
  { headers }: WholeAnswer,
  failure: FailureClass,
  why: string,
  { clock }: ProbeOptions,
): ProbeTrouble {
  if (!failure.holdOff) return { kind: 'failed', failure, why, answered: true }
  const retryAfterMs = parseRetryAfter(header(headers, 'retry-after'), clock.wallMs())
  return { kind: 'limited', failure, retryAfterMs }
}
