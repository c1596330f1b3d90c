// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
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
  /** HTTP 429: it wants to be left alone, for as long as it says or for the usual time. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  /** No answer in the protocol. */
  | { readonly kind: 'failed'; readonly fault: string }

/** Asks a URL one question of the router's own. Never rejects, except when the signal is aborted. */
export async function ask(
  url: NodeUrl,
  call: ProbeCall,
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
    if (incoming.status === 429) {
      release(incoming.body)
      const retryAfter = header(incoming.headers, 'retry-after')
      return { kind: 'limited', retryAfterMs: parseRetryAfter(retryAfter, clock.wallMs()) }
    }
    if (!(incoming.body instanceof Uint8Array)) {
      // No probe needs an answer that is too long to be collected.
      release(incoming.body)
      return { kind: 'refused', why: 'the answer is too long' }
    }
    return read(incoming.status, Buffer.from(incoming.body), call, clock.nowMs() - startedMs)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof TransportError)) throw error
    return { kind: 'failed', fault: error.fault === 'aborted' ? 'timeout' : error.fault }
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', takeBack)
  }
}

function read(status: number, body: Buffer, call: ProbeCall, latencyMs: number): ProbeAnswer {
  let document: unknown
  try {
    document = JSON.parse(body.toString())
  } catch {
    return { kind: 'failed', fault: `HTTP ${status} without a JSON answer` }
  }
  const error = (document as { error?: { code?: unknown } } | null)?.error
  if (error) return { kind: 'refused', why: `the node answered with error ${Number(error.code)}` }
  if (status >= 400) return { kind: 'failed', fault: `HTTP ${status}` }
  const value = valueAt(document, call.result)
  if (value === undefined || value === null)
    return { kind: 'refused', why: 'the answer does not hold what was asked for' }
  return { kind: 'value', value, latencyMs }
}
