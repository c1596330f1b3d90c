// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureClass, FailureTable } from '../chain/failure-table.ts'
import type { ProbeCall, ResultPath } from '../chain/types.ts'
import type { Clock } from '../clock/clock.ts'
import { TimeLimit } from '../clock/time-limit.ts'
import type { Dialect, WholeAnswer } from './dialect.ts'
import { parseRetryAfter } from './hold-off.ts'
import type { NodeUrl } from './node-url.ts'
import { TransportError } from './transport.ts'
import { wholeBody } from './whole-body.ts'
import { header } from './wire.ts'

/** How long a probe may take when the spec does not say. */
const probeTimeoutMs = 5_000
/** No probe needs a longer answer. */
const maxAnswerBytes = 1024 * 1024

/** What came of a question that the router itself asked. */
export type ProbeAnswer =
  | { readonly kind: 'value'; readonly value: unknown; readonly latencyMs: number }
  /**
   * The node answered, but not with what was asked for. `why` holds no payload; `failure`: where it
   * was an error.
   */
  | { readonly kind: 'refused'; readonly why: string; readonly failure?: FailureClass }
  /** 429 and its kin: it wants to be left alone, for as long as it says or for the usual time. */
  | {
      readonly kind: 'limited'
      readonly failure: FailureClass
      readonly retryAfterMs: number | null
    }
  /** No answer in the protocol. `answered`: somebody did answer, in a form of their own. */
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly why: string
      readonly answered?: boolean
    }

/** `ask` with everything given but the URL and the question. */
export type AskUrl = (url: NodeUrl, call: ProbeCall) => Promise<ProbeAnswer>

export interface AskOptions {
  /** In which the URL is asked. */
  readonly dialect: Dialect
  readonly failures: FailureTable
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Asks a URL one question of the router's own. Never rejects, except when the signal is aborted. */
export async function ask(
  url: NodeUrl,
  call: ProbeCall,
  options: AskOptions,
): Promise<ProbeAnswer> {
  const { dialect, failures, clock, signal } = options
  const startedMs = clock.nowMs()
  const limit = new TimeLimit(clock, signal, url.timeoutMs ?? call.timeoutMs ?? probeTimeoutMs)
  try {
    const incoming = await url.transport.send(dialect.ask(call), limit.signal)
    const { headers } = incoming
    // What is short may come as a stream all the same: gRPC's status is seldom much later than its message.
    const body = await wholeBody(incoming.body, maxAnswerBytes)
    if (body === null) return { kind: 'refused', why: 'the answer is too long' }
    const told = tell({ ...incoming, body }, call.result, options)
    if (told.kind === 'value') return { ...told, latencyMs: clock.nowMs() - startedMs }
    if (told.kind === 'refused') return told
    const { failure, why } = told
    if (!failure.holdOff) return { kind: 'failed', failure, why, answered: true }
    const retryAfterMs = parseRetryAfter(header(headers, 'retry-after'), clock.wallMs())
    return { kind: 'limited', failure, retryAfterMs }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof TransportError)) throw error
    const fault = error.fault === 'aborted' ? 'timeout' : error.fault
    return { kind: 'failed', failure: failures.ofTransport(fault), why: fault }
  } finally {
    limit.end()
  }
}

type Told =
  | { readonly kind: 'value'; readonly value: unknown }
  | Extract<ProbeAnswer, { kind: 'refused' }>
  | { readonly kind: 'failure'; readonly failure: FailureClass; readonly why: string }

/** What an answer says, and what the chain's table makes of it when it is an error. */
function tell(
  answer: WholeAnswer,
  place: ResultPath,
  { dialect, failures }: Pick<AskOptions, 'dialect' | 'failures'>,
): Told {
  const said = dialect.read(answer)
  if (said.kind === 'malformed')
    return { kind: 'failure', failure: failures.ofPage(answer.status, answer.body), why: said.why }
  if (said.kind === 'error') {
    const failure = failures.ofNodeError(said.error)
    // What is the node's trouble of the moment says nothing of what the node is.
    if (failure.holdOff || (failure.whose === 'upstream' && failure.weight > 0))
      return { kind: 'failure', failure, why: failure.name }
    const why = `the node answered with error ${said.error.code}`
    return { kind: 'refused', why, failure }
  }
  const value = said.at(place)
  if (value === undefined || value === null)
    return { kind: 'refused', why: 'the answer does not hold what was asked for' }
  return { kind: 'value', value }
}
