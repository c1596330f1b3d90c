// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable } from '../chain/failure-table.ts'
import type { ProbeCall } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { parseRetryAfter } from './hold-off.ts'
import type { NodeUrl } from './node-url.ts'
import { valueAt } from './result.ts'
import { TransportError } from './transport.ts'
import { header, release } from './wire.ts'

/** How long a probe may take when the spec does not say. */
const probeTimeoutMs = 5_000

/** What came of a question that the router itself asked. */
export type ProbeAnswer =
  | { readonly kind: 'value'; readonly value: unknown; readonly latencyMs: number }
  /** The node answered, but not with what was asked for. `why` holds no payload. */
  | { readonly kind: 'refused'; readonly why: string }
  /** 429 and its kin: it wants to be left alone, for as long as it says or for the usual time. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  /** No answer in the protocol. */
  | { readonly kind: 'failed'; readonly fault: string }

/** `ask` with everything given but the URL and the question. */
export type AskUrl = (url: NodeUrl, call: ProbeCall) => Promise<ProbeAnswer>

/** Asks a URL one question of the router's own. Never rejects, except when the signal is aborted. */
export async function ask(
  url: NodeUrl,
  call: ProbeCall,
  failures: FailureTable,
  clock: Clock,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const abort = new AbortController()
  const takeBack = () => {
    abort.abort()
  }
  const startedMs = clock.nowMs()
  const cancelTimer = clock.after(url.timeoutMs ?? call.timeoutMs ?? probeTimeoutMs, takeBack)
  signal.addEventListener('abort', takeBack, { once: true })
  try {
    const incoming = await url.transport.send(
      {
        verb: call.verb,
        path: call.path,
        headers: ['content-type', 'application/json', 'accept', 'application/json'],
        body: call.body === null ? null : Buffer.from(call.body),
      },
      abort.signal,
    )
    if (!(incoming.body instanceof Uint8Array)) {
      // No probe needs an answer that is too long to be collected.
      release(incoming.body)
      return { kind: 'refused', why: 'the answer is too long' }
    }
    const { status, body, headers } = incoming
    const told = read(status, Buffer.from(body), call, failures)
    if (told.kind === 'value') return { ...told, latencyMs: clock.nowMs() - startedMs }
    if (told.kind === 'refused') return told
    const { failure, why } = told
    if (!failure.holdOff) return { kind: 'failed', fault: why }
    const retryAfterMs = parseRetryAfter(header(headers, 'retry-after'), clock.wallMs())
    return { kind: 'limited', retryAfterMs }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof TransportError)) throw error
    return { kind: 'failed', fault: error.fault === 'aborted' ? 'timeout' : error.fault }
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', takeBack)
  }
}

type Told =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failure'; readonly failure: FailureClass; readonly why: string }

/** What an answer says, and what the chain's table makes of it when it is an error. */
function read(status: number, body: Buffer, call: ProbeCall, failures: FailureTable): Told {
  let document: { error?: { code?: unknown; message?: unknown } | null } | null
  try {
    document = JSON.parse(body.toString()) as typeof document
  } catch {
    const why = `HTTP ${status} without a JSON answer`
    return { kind: 'failure', failure: failures.ofStatus(status), why }
  }
  const error = document?.error
  if (error) {
    const code = Number(error.code)
    const message = String(error.message)
    const failure = failures.ofNodeError({
      status,
      code: Number.isSafeInteger(code) ? code : null,
      message,
    })
    // What is the node's trouble of the moment says nothing of what the node is.
    if (failure.holdOff || (failure.whose === 'upstream' && failure.weight > 0))
      return { kind: 'failure', failure, why: failure.name }
    return { kind: 'refused', why: `the node answered with error ${code}` }
  }
  if (status >= 400)
    return { kind: 'failure', failure: failures.ofStatus(status), why: `HTTP ${status}` }
  const value = valueAt(document, call.result)
  if (value === undefined || value === null)
    return { kind: 'refused', why: 'the answer does not hold what was asked for' }
  return { kind: 'value', value }
}
