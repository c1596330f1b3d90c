// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash, randomUUID } from 'node:crypto'
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  type Meter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { type IdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace'
import type { Clock } from '../../clock/clock.ts'
import type { CallEnd } from '../../listener/listener.ts'
import type { AttemptRecord, Call, Journal } from '../../relay/call.ts'
import { headersOf, type TraceHeaders } from '../../relay/traced-request.ts'
import { outcomeOf, resultOf } from '../call-counters.ts'
import { perListener } from '../observers.ts'
import {
  type Described,
  describeAttempt,
  describeCall,
  identify,
  type Served,
} from './call-attributes.ts'

/** Gives the next span its ids. Those of a call follow from its guid, so that none of it need be kept for its attempts. */
export class SpanIds implements IdGenerator {
  traceId = ''
  spanId = ''
  readonly generateTraceId = () => this.traceId
  readonly generateSpanId = () => this.spanId
}

interface CallSpansOptions {
  /** Null: no spans. The tracer records whatever it is given, with the ids of `ids`; it is given what `sampler` takes. */
  readonly spans: { tracer: Tracer; ids: SpanIds; sampler: Sampler } | null
  /** Null: no metrics. */
  readonly meter: Meter | null
  readonly clock: Clock
}

type Event = readonly [name: string, atMs: number, attributes?: Attributes]

/** A span beside what is described of it. Times are on the clock's monotonic scale. */
interface Frame {
  readonly kind: SpanKind
  readonly spanId: string
  readonly parent: Context
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly events: readonly Event[]
}

/** As the semantic conventions for RPC, and those for HTTP, advise. */
const explicitBucketBoundaries = [
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
]
const propagator = new W3CTraceContextPropagator()

/**
 * Makes the spans of a call when it has ended, from its journal: one of the server, and one of a client for each attempt.
 * Before that, only the ids of attempts that carry their context to an upstream. Of a call that is not sampled it makes nothing.
 */
export class CallSpans {
  readonly #options: CallSpansOptions
  /** Attempts that run on after the end of a sampled call; then journals in which they may go on with another URL. */
  readonly #late = new WeakSet<AttemptRecord | Journal>()
  /** Of attempts that carry their context. */
  readonly #spanIds = new WeakMap<AttemptRecord, string>()

  constructor(options: CallSpansOptions) {
    this.#options = options
  }

  readonly listenerObserver = perListener((served) => {
    const duration = this.#histogram('server', 'Calls of clients.', served)
    return {
      callEnded: (call: Call, end: CallEnd, durationMs: number) => {
        const isSampled = this.#samples(call)
        if (!duration && !isSampled) return
        const described = describeCall(call, end, served)
        duration?.record(durationMs / 1_000, described.attributes)
        if (isSampled) this.#callEnded(call, end, durationMs, described, served)
      },
    }
  })

  readonly relayObserver = perListener((served) => {
    const duration = this.#histogram('client', 'Attempts at upstreams.', served)
    return {
      attemptEnded: (call: Call, attempt: AttemptRecord) => {
        const { startedMs, endedMs, result, kind } = attempt
        if (duration && endedMs !== null && result !== 'aborted') {
          const { attributes } = describeAttempt(call, attempt, served)
          duration.record((endedMs - startedMs) / 1_000, attributes)
        }
        const follows = kind === 'failover' && this.#late.has(call.journal)
        if (!this.#late.delete(attempt) && !follows) return
        this.#late.add(call.journal)
        this.#attempt(call, attempt, served)
      },
    }
  })

  readonly traceHeaders = perListener((): TraceHeaders => (call, attempt) => {
    const ofClient = call.directives.trace
    if (!this.#options.spans) return headersOf(ofClient)
    const spanId = idOf(randomUUID(), 16)
    const isSampled = this.#samples(call)
    if (isSampled) this.#spanIds.set(attempt, spanId)
    const parent = `00-${traceIdOf(call)}-${spanId}-${isSampled ? '01' : '00'}`
    return headersOf({ parent, state: ofClient?.state ?? null })
  })

  /** How long calls or attempts take, in seconds; those of REST are requests of HTTP. Null where there are no metrics. */
  #histogram(side: 'server' | 'client', description: string, { interface: of }: Served) {
    const name = of === 'rest' ? `http.${side}.request.duration` : `rpc.${side}.call.duration`
    const options = { unit: 's', description, advice: { explicitBucketBoundaries } }
    return this.#options.meter?.createHistogram(name, options)
  }

  /** The same whenever it is asked: samplers look at the trace of a call, and at what its client has decided. */
  #samples(call: Call): boolean {
    const { spans } = this.#options
    if (!spans || call.directives.debugRelay) return spans !== null
    const { sampler } = spans
    const context = contextOf(call)
    const kind = SpanKind.SERVER
    const { decision } = sampler.shouldSample(context, traceIdOf(call), '', kind, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }

  #callEnded(call: Call, end: CallEnd, durationMs: number, described: Described, served: Served) {
    const { journal, guid } = call
    const { startedMs: startMs, attempts } = journal
    const endMs = startMs + durationMs
    const upstream = end.kind === 'reply' && end.reply.upstream
    journal.traceId = traceIdOf(call)
    this.#span(call, described, {
      ...{ kind: SpanKind.SERVER, spanId: idOf(guid, 16), parent: contextOf(call) },
      ...{ startMs, endMs, events: eventsOf(journal, endMs) },
      attributes: {
        'rpc_router.outcome': outcomeOf(call, end),
        ...(upstream && { 'rpc_router.upstream': upstream }),
      },
    })
    for (const attempt of attempts)
      if (attempt.result === null) this.#late.add(attempt)
      else this.#attempt(call, attempt, served)
  }

  #attempt(call: Call, attempt: AttemptRecord, served: Served): void {
    const { startedMs: startMs, endedMs, kind, result } = attempt
    const ofServer = { traceId: traceIdOf(call), spanId: idOf(call.guid, 16), traceFlags: 1 }
    const endMs = endedMs ?? startMs
    const isLimited = typeof result === 'object' && result?.holdOff
    this.#span(call, describeAttempt(call, attempt, served), {
      kind: SpanKind.CLIENT,
      spanId: this.#spanIds.get(attempt) ?? idOf(randomUUID(), 16),
      parent: trace.setSpanContext(ROOT_CONTEXT, ofServer),
      ...{ startMs, endMs, events: isLimited ? [['rpc_router.cooldown', endMs]] : [] },
      attributes: {
        'rpc_router.attempt.kind': kind,
        'rpc_router.attempt.result': resultOf(attempt),
      },
    })
  }

  #span(call: Call, { name, attributes, errorType, isError }: Described, frame: Frame): void {
    const { spans, clock } = this.#options
    if (!spans) return
    const { kind, spanId, parent, startMs, endMs, events } = frame
    const epochMs = clock.wallMs() - clock.nowMs()
    Object.assign(spans.ids, { traceId: traceIdOf(call), spanId })
    const span = spans.tracer.startSpan(name, { kind, startTime: epochMs + startMs }, parent)
    span.setAttributes({ ...attributes, ...identify(call), ...frame.attributes })
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR, message: errorType ?? '' })
    for (const [event, atMs, of] of events) span.addEvent(event, of, epochMs + atMs)
    span.end(epochMs + endMs)
  }
}

function eventsOf({ cache, crossValidation, attempts, startedMs }: Journal, endMs: number) {
  const events: Event[] = []
  if (cache !== null) {
    const { verdict, ageClass, why } = cache
    events.push(['rpc_router.cache', startedMs, { verdict, class: ageClass, ...(why && { why }) }])
  }
  for (const { kind, upstream, startedMs: atMs } of attempts)
    if (kind !== 'first' && kind !== 'broadcast')
      events.push([`rpc_router.${kind}`, atMs, { upstream }])
  if (crossValidation !== null) {
    const { agreeing, disagreeing, failure } = crossValidation
    const vote = { agreeing: [...agreeing], disagreeing: [...disagreeing] }
    events.push(['rpc_router.vote', endMs, { ...vote, status: failure ?? 'success' }])
  }
  return events
}

/** That of its client, else made from its guid. */
function traceIdOf({ guid, directives }: Call): string {
  return directives.trace?.parent.slice(3, 35) ?? idOf(guid, 32)
}

/** The last digits of a guid; of items of a batch and messages of a WebSocket, which share theirs, those of a digest. */
function idOf(guid: string, digits: 16 | 32): string {
  if (guid.length !== 36) return hash('sha256', guid).slice(-digits)
  // Faster than to replace the hyphens: each call is looked at.
  const end = guid.slice(19, 23) + guid.slice(24)
  return digits === 16 ? end : guid.slice(0, 8) + guid.slice(9, 13) + guid.slice(14, 18) + end
}

/** Of its client. */
function contextOf({ directives: { trace: ofClient } }: Call): Context {
  if (ofClient === null) return ROOT_CONTEXT
  const headers = { traceparent: ofClient.parent, tracestate: ofClient.state }
  return propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
}
