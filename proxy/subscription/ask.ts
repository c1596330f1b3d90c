// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { nodeLimits, subscriptionLimits } from '../bytes/limits.ts'
import { Turns } from '../clock/turns.ts'
import { bufferOf, memberOf, parseJson } from '../json/scanner.ts'
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { release, wholeBody } from '../upstream/wire.ts'

/** A request that the router itself sends for a subscription. */
export interface OwnQuestion {
  readonly method: string
  readonly params: unknown
  /** The upstream to try first. */
  readonly prefer: string | null
  /** Upstreams that have already been tried. */
  readonly avoid: readonly string[]
  readonly signal: AbortSignal
}

export interface Answer {
  /** The `result` as JSON. */
  readonly result: Uint8Array
  readonly upstream: string
}

/** Sends a request over the relay. @throws BackfillError @throws RelayError @throws CallAborted */
export type Ask = (question: OwnQuestion) => Promise<Answer>

/** An upstream answered without the needed data. A retry may succeed. */
export class BackfillError extends Error {
  override readonly name = 'BackfillError'
}

export function isTemporary(error: unknown): error is RelayError | BackfillError {
  return error instanceof RelayError || error instanceof BackfillError
}

/** Backoff between retries of the same request. */
export const retryBackoff = { firstMs: 250, maxMs: 10_000, jitter: 0.1 }

/** A subscription ends if upstreams keep answering without the needed data for this long. */
const failureLimitMs = 6 * 60_000

/** Tracks how long fetching the next event has failed. An outage of all upstreams is ignored. */
export class FetchFailures {
  #sinceMs: number | null = null
  #answeredSinceMs: number | null = null

  /** @returns how long it has been failing, and whether the subscription must end */
  add(error: Error, nowMs: number): { readonly forMs: number; readonly isOver: boolean } {
    this.#sinceMs ??= nowMs
    this.#answeredSinceMs = error instanceof BackfillError ? (this.#answeredSinceMs ?? nowMs) : null
    const isOver = this.#answeredSinceMs !== null && nowMs - this.#answeredSinceMs >= failureLimitMs
    return { forMs: nowMs - this.#sinceMs, isOver }
  }

  reset(): void {
    this.#sinceMs = null
    this.#answeredSinceMs = null
  }
}

/** Maximum length of a node's error in the log. */
const maxShownBytes = 200
/** Maximum upstreams to try for data that the previous one lacks. */
const maxAttempts = 3

/** @param newCall builds the call for a request, as the listener does for a client */
export function createAsk(
  relay: Relay,
  newCall: (question: OwnQuestion) => Call,
  budget?: ByteBudget,
): Ask {
  const turns = new Turns(subscriptionLimits.questionsAtOnce)
  return (question) =>
    turns.run(async () => {
      if (question.signal.aborted) throw new CallAborted()
      return askNow(relay, newCall(question), question, budget)
    })
}

async function askNow(
  relay: Relay,
  call: Call,
  question: OwnQuestion,
  budget?: ByteBudget,
): Promise<Answer> {
  const { method } = question
  const { wholeBytes } = nodeLimits
  const { incoming, upstream, refusal } = await relay(call)
  if (refusal) {
    release(incoming.body)
    throw new BackfillError(`${method}: ${refusal.name}`)
  }
  const body = await wholeBody(incoming.body, wholeBytes, budget).catch((cause: unknown) => {
    if (!isStreamFailure(cause)) throw cause
    throw new RelayError(errorKinds.upstreamFailed, `${method}: ${cause.message}`, { cause })
  })
  if (body === null) throw new BackfillError(`${method}: more than ${wholeBytes} bytes`)
  const result = memberBytes(body, 'result')
  if (result !== null) return { result, upstream }
  const error = memberBytes(body, 'error')?.subarray(0, maxShownBytes)
  const why = error ? bufferOf(error).toString() : 'an answer without a result'
  throw new BackfillError(`${method}: ${why}`)
}

/**
 * Sends a request and validates the answer. After an unusable answer, tries another upstream.
 * @param read returns null for an unusable result
 * @throws BackfillError if no upstream returns a usable result, and whatever `ask` throws
 */
export async function askFor<T>(
  ask: Ask,
  question: Omit<OwnQuestion, 'avoid'>,
  read: (result: Uint8Array) => T | null,
): Promise<{ readonly value: T; readonly upstream: string }> {
  const avoid: string[] = []
  const unusable = (cause?: unknown) =>
    new BackfillError(`${question.method}: no usable answer from ${avoid.join(', ')}`, { cause })
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { result, upstream } = await ask({ ...question, avoid }).catch((cause: unknown) => {
      throw avoid.length === 0 || !isTemporary(cause) ? cause : unusable(cause)
    })
    const value = read(result)
    if (value !== null) return { value, upstream }
    avoid.push(upstream)
  }
  throw unusable()
}

/** Returns a reader for JSON of one type. */
export function jsonOf<T>(isValid: (value: unknown) => value is T) {
  return (result: Uint8Array): T | null => {
    const value = parseJson(result)
    return isValid(value) ? value : null
  }
}

/** The bytes of a member of a JSON object; null if absent. */
export function memberBytes(document: Uint8Array, name: string): Uint8Array | null {
  const span = memberOf(document, name)
  return span && bufferOf(document).subarray(span.start, span.end)
}
