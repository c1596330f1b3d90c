// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { TraceState } from '@opentelemetry/core'
import type { Clock } from '../../clock/clock.ts'
import type { ApiInterface } from '../../config/types.ts'
import type { CallEnd, ListenerObserver } from '../../listener/listener.ts'
import type { AttemptRecord, Call, RelayObserver, TraceContext } from '../../relay/call.ts'
import { headersOf, type TraceHeaders } from '../../relay/traced-request.ts'
import { outcomeOf, resultOf } from '../call-counters.ts'
import { perListener } from '../observers.ts'
import {
  attributesOf,
  attributesOfAttempt,
  endAttributes,
  errorTypeOf,
  errorTypeOfAttempt,
  isServerError,
  type Naming,
  namingFor,
  type Served,
  statusOf,
} from './call-attributes.ts'
import type { CallDurations } from './call-durations.ts'
import { forcing } from './sampler.ts'

/** What makes spans, by chain and interface. */
export interface TracingObservers {
  listenerObserver(chain: string, apiInterface: ApiInterface): Pick<ListenerObserver, 'callEnded'>
  relayObserver(chain: string, apiInterface: ApiInterface): Pick<RelayObserver, 'attemptEnded'>
  traceHeaders(chain: string, apiInterface: ApiInterface): TraceHeaders
}

interface CallSpansOptions {
  /** Null: no spans. */
  readonly tracer: Tracer | null
  /** Null: no metrics. */
  readonly durations: CallDurations | null
  readonly clock: Clock
}

/** The spans of one call. */
interface Trace {
  readonly server: Span
  /** Of its parent. */
  readonly context: Context
  /** From the monotonic scale to the epoch. */
  readonly epochMs: number
  /** Of attempts that have one, so that none has two: most calls are not recorded, and need none. */
  begun: Map<AttemptRecord, Span> | null
  /** Attempts that run on after the end of the call; null before that. */
  running: Set<AttemptRecord> | null
}

/** What the spans of a call are made with. */
interface Making {
  readonly tracer: Tracer
  readonly naming: Naming
  readonly served: Served
}

/** Traces that are known beside their journal. One that is never ended, by a defect, gives way in the end. */
const maxKnown = 10_000

/**
 * Makes the spans of a call when it has ended, from its journal: one of the server, and one of a client for each attempt.
 * Until then nothing is kept of a call, unless one of its attempts carries its trace context to an upstream.
 */
export class CallSpans implements TracingObservers {
  readonly #options: CallSpansOptions
  /** By guid, since a vote splits the journal. */
  readonly #known = new Map<string, Trace>()

  constructor(options: CallSpansOptions) {
    this.#options = options
  }

  readonly listenerObserver = perListener((served) => {
    const namingOf = namingFor(served)
    return {
      callEnded: (call: Call, end: CallEnd, durationMs: number) => {
        const { tracer, durations } = this.#options
        const naming = namingOf(call)
        if (durations) {
          const ending = endAttributes(statusOf(call, end, served), errorTypeOf(call, end), served)
          durations.server(served, durationMs, { ...naming.server, ...ending })
        }
        if (tracer) this.#callEnded(call, end, durationMs, { tracer, naming, served })
      },
    }
  })

  readonly relayObserver = perListener((served) => {
    const namingOf = namingFor(served)
    return {
      attemptEnded: (call: Call, attempt: AttemptRecord) => {
        const { tracer, durations } = this.#options
        const known = this.#known.size > 0 ? this.#known.get(call.guid) : undefined
        if (!durations && !known?.running) return
        const naming = namingOf(call)
        const { startedMs, endedMs } = attempt
        if (durations && endedMs !== null && attempt.result !== 'aborted') {
          const attributes = { ...naming.client, ...attributesOfAttempt(attempt, served) }
          durations.client(served, endedMs - startedMs, attributes)
        }
        if (!tracer || !known?.running) return
        const { running } = known
        this.#attempt(known, attempt, call, { tracer, naming, served })
        running.delete(attempt)
        // The call is over, but the same upstream may be asked by its next URL: that begins before any other code runs.
        queueMicrotask(() => {
          for (const each of call.journal.attempts) if (each.result === null) running.add(each)
          if (running.size === 0) this.#known.delete(call.guid)
        })
      },
    }
  })

  readonly traceHeaders = perListener((served): TraceHeaders => {
    const namingOf = namingFor(served)
    return (call, attempt) => {
      const { tracer } = this.#options
      if (!tracer) return headersOf(call.directives.trace)
      const naming = namingOf(call)
      const known = this.#known.getOrInsertComputed(call.guid, () =>
        this.#begin(call, tracer, naming),
      )
      if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value ?? '')
      const span = this.#beginAttempt(known, attempt, tracer, naming)
      const { traceId, spanId, traceFlags, traceState } = span.spanContext()
      const parent = `00-${traceId}-${spanId}-0${traceFlags}`
      return headersOf({ parent, state: traceState?.serialize() || null })
    }
  })

  #begin(call: Call, tracer: Tracer, { name }: Naming): Trace {
    const { clock } = this.#options
    const { directives, journal } = call
    const epochMs = clock.wallMs() - clock.nowMs()
    const ofClient = contextOf(directives.trace)
    const context = directives.debugRelay ? forcing(ofClient) : ofClient
    const startTime = timeOf(epochMs + journal.startedMs)
    // No sampler of the standard ones looks at attributes: most calls are not recorded, and need none.
    const server = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime }, context)
    return { server, context, epochMs, begun: null, running: null }
  }

  #callEnded(call: Call, end: CallEnd, durationMs: number, making: Making): void {
    const { tracer, naming, served } = making
    const { guid, journal } = call
    const known = this.#known.get(guid) ?? this.#begin(call, tracer, naming)
    const runs = ({ result }: AttemptRecord) => result === null
    if (journal.attempts.some(runs)) {
      known.running = new Set(journal.attempts.filter(runs))
      this.#known.set(guid, known)
    } else this.#known.delete(guid)
    const { server, epochMs } = known
    if (!server.isRecording()) return
    journal.traceId = server.spanContext().traceId
    const status = statusOf(call, end, served)
    const errorType = errorTypeOf(call, end)
    server.setAttributes({
      ...naming.server,
      ...attributesOf(call),
      ...endAttributes(status, errorType, served),
      'rpc_router.outcome': outcomeOf(call, end),
      ...(end.kind === 'reply' &&
        end.reply.upstream && { 'rpc_router.upstream': end.reply.upstream }),
    })
    if (isServerError(errorType, status, served))
      server.setStatus({ code: SpanStatusCode.ERROR, message: errorType ?? '' })
    const endMs = epochMs + journal.startedMs + durationMs
    addEvents(server, call, epochMs, endMs)
    for (const attempt of journal.attempts)
      if (attempt.result !== null) this.#attempt(known, attempt, call, making)
    server.end(timeOf(endMs))
  }

  #attempt(known: Trace, attempt: AttemptRecord, call: Call, { tracer, naming, served }: Making) {
    const span = known.begun?.get(attempt) ?? this.#beginAttempt(known, attempt, tracer, naming)
    if (!span.isRecording()) return
    const { endedMs, startedMs, kind, result } = attempt
    const endTime = timeOf(known.epochMs + (endedMs ?? startedMs))
    const errorType = errorTypeOfAttempt(attempt)
    span.setAttributes({
      ...naming.client,
      ...attributesOf(call),
      ...attributesOfAttempt(attempt, served),
      'rpc_router.attempt.kind': kind,
      'rpc_router.attempt.result': resultOf(attempt),
    })
    if (errorType !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: errorType })
    if (typeof result === 'object' && result?.holdOff) span.addEvent('rpc_router.cooldown', endTime)
    span.end(endTime)
  }

  #beginAttempt(known: Trace, attempt: AttemptRecord, tracer: Tracer, { name }: Naming): Span {
    const { context, server, epochMs } = known
    const startTime = timeOf(epochMs + attempt.startedMs)
    const options = { kind: SpanKind.CLIENT, startTime }
    const span = tracer.startSpan(name, options, trace.setSpan(context, server))
    known.begun ??= new Map()
    known.begun.set(attempt, span)
    return span
  }
}

function addEvents(span: Span, { journal }: Call, epochMs: number, endMs: number): void {
  const { cache, crossValidation, attempts, startedMs } = journal
  if (cache !== null) {
    const { verdict, ageClass, why } = cache
    const attributes = { verdict, class: ageClass, ...(why !== null && { why }) }
    span.addEvent('rpc_router.cache', attributes, timeOf(epochMs + startedMs))
  }
  for (const { kind, upstream, startedMs: atMs } of attempts)
    if (kind !== 'first' && kind !== 'broadcast')
      span.addEvent(`rpc_router.${kind}`, { upstream }, timeOf(epochMs + atMs))
  if (crossValidation === null) return
  const { agreeing, disagreeing, failure } = crossValidation
  const vote = { agreeing: [...agreeing], disagreeing: [...disagreeing] }
  span.addEvent('rpc_router.vote', { ...vote, status: failure ?? 'success' }, timeOf(endMs))
}

function contextOf(ofClient: TraceContext | null): Context {
  if (ofClient === null) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = ''] = ofClient.parent.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...{ traceId, spanId, isRemote: true, traceFlags: parseInt(flags, 16) & 1 },
    ...(ofClient.state !== null && { traceState: new TraceState(ofClient.state) }),
  })
}

/** The API takes a small number for another scale. */
function timeOf(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000)
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1e6)]
}
