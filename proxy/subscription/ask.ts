// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { nodeLimits, subscriptionLimits } from '../bytes/limits.ts'
import { bufferOf, memberOf, parseJson } from '../json/scanner.ts'
import type { Call } from '../relay/call.ts'
import { CallAborted, RelayError, errorKinds } from '../relay/errors.ts'
import type { Relay } from '../relay/relay.ts'
import { isStreamFailure } from '../relay/streamed-answer.ts'
import { release, wholeBody } from '../upstream/wire.ts'

/** A question of the router's own, on behalf of a subscription. */
export interface OwnQuestion {
  readonly method: string
  readonly params: unknown
  /** The upstream to ask first. */
  readonly prefer: string | null
  /** Not these, which were asked before. */
  readonly avoid: readonly string[]
  readonly signal: AbortSignal
}

export interface Answer {
  /** The `result`, JSON. */
  readonly result: Uint8Array
  readonly upstream: string
}

/** Asks over the relay. @throws BackfillError @throws RelayError @throws CallAborted */
export type Ask = (question: OwnQuestion) => Promise<Answer>

/** An upstream answered, and not with what is needed. Asked again later, it may be otherwise. */
export class BackfillError extends Error {
  override readonly name = 'BackfillError'
}

/** Whether the same may well succeed when it is tried again. */
export function isTemporary(error: unknown): error is RelayError | BackfillError {
  return error instanceof RelayError || error instanceof BackfillError
}

/** How long to wait before the same is asked again. */
export const retryBackoff = { firstMs: 250, maxMs: 10_000, jitter: 0.1 }

/** Upstreams that answer, and for so long not with what is needed, end a subscription. */
const failureLimitMs = 6 * 60_000

/** How long the next event could not be fetched. While no upstream answers at all, nothing is missed. */
export class FetchFailures {
  #sinceMs: number | null = null
  #answeredSinceMs: number | null = null

  /** @returns how long it has been failing, and whether it has to end */
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

/** Of a node's error, for the log. */
const maxShownBytes = 200
/** Upstreams that are asked for what the one before does not have. */
const maxAsked = 3

/** @param newCall makes the call of a question, as the listener would for a client */
export function createAsk(
  relay: Relay,
  newCall: (question: OwnQuestion) => Call,
  budget?: ByteBudget,
): Ask {
  let free = subscriptionLimits.questionsAtOnce
  const waiting: (() => void)[] = []
  return async (question) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      if (question.signal.aborted) throw new CallAborted()
      return await askNow(relay, newCall(question), question, budget)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
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
 * Asks, and reads the answer as what it should be; where it is not, asks another upstream.
 * @param read returns null for what is not such a result
 * @throws BackfillError when no upstream answers as it should, and what asking throws
 */
export async function askFor<T>(
  ask: Ask,
  question: Omit<OwnQuestion, 'avoid'>,
  read: (result: Uint8Array) => T | null,
): Promise<{ readonly value: T; readonly upstream: string }> {
  const avoid: string[] = []
  const fails = (cause?: unknown) =>
    new BackfillError(`${question.method}: no usable answer from ${avoid.join(', ')}`, { cause })
  for (let requests = 0; requests < maxAsked; requests++) {
    const { result, upstream } = await ask({ ...question, avoid }).catch((cause: unknown) => {
      throw avoid.length === 0 || !isTemporary(cause) ? cause : fails(cause)
    })
    const value = read(result)
    if (value !== null) return { value, upstream }
    avoid.push(upstream)
  }
  throw fails()
}

/** Reads JSON that must be of a kind. */
export function jsonOf<T>(isRight: (value: unknown) => value is T) {
  return (result: Uint8Array): T | null => {
    const value = parseJson(result)
    return isRight(value) ? value : null
  }
}

/** The bytes of a member of the object that a document is; null where it has none. */
export function memberBytes(document: Uint8Array, name: string): Uint8Array | null {
  const span = memberOf(document, name)
  return span && bufferOf(document).subarray(span.start, span.end)
}
