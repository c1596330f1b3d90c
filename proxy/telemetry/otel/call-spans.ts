// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash, randomUUID } from 'node:crypto'
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { type IdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace'
import type { Clock } from '../../clock/clock.ts'
import type { ApiInterface } from '../../config/types.ts'
import type { CallEnd } from '../../listener/listener.ts'
import { isCancelled, type AttemptRecord, type Call, type Journal } from '../../relay/call.ts'
import { headersOf, type TraceHeaders } from '../../relay/traced-request.ts'
import { readStatus } from '../../upstream/dialect.ts'
import { memo, outcomeOf, resultOf } from '../call-counters.ts'
import { perListener } from '../observers.ts'

/*
 * Names and values follow the semantic conventions: RPC for JSON-RPC and gRPC, HTTP for REST. The
 * router's own are under `rpc_router`. None contains a path, parameter or URL.
 */

type Served = Parameters<Parameters<typeof perListener>[0]>[0]
type Described = ReturnType<typeof describeAttempt>

/** Sets the ids of the next span. A call's ids derive from its guid, so attempts need no state. */
export class SpanIds implements IdGenerator {
  traceId = ''
  spanId = ''
  readonly generateTraceId = () => this.traceId
  readonly generateSpanId = () => this.spanId
}

interface CallSpansOptions {
  /** Records the calls that `sampler` selects, with these `ids`. */
  readonly tracer: Tracer
  readonly ids: SpanIds
  readonly sampler: Sampler
  readonly clock: Clock
}

const propagator = new W3CTraceContextPropagator()

export type CallSpans = ReturnType<typeof createCallSpans>

/**
 * Creates the span of a call or an attempt when it ends. Before that, only attempts that send their
 * context upstream have ids. Unsampled calls create nothing.
 */
export function createCallSpans({ tracer, ids, sampler, clock }: CallSpansOptions) {
  /** Ids of attempts that send their context. */
  const spanIds = new WeakMap<AttemptRecord, string>()

  /** Runs the sampler once per call. The journal stores the decision as the trace id. */
  const samples = (call: Call): boolean => {
    const { journal, directives } = call
    if (journal.traceId === undefined) {
      const traceId = traceIdOf(call)
      const kind = SpanKind.SERVER
      const { decision } = sampler.shouldSample(contextOf(call), traceId, '', kind, {}, [])
      const isSampled = directives.debugRelay || decision === SamplingDecision.RECORD_AND_SAMPLED
      journal.traceId = isSampled ? traceId : null
    }
    return typeof journal.traceId === 'string'
  }

  /** @param attempt absent for the span of the call itself */
  const makeSpan = (call: Call, described: Described, attempt?: AttemptRecord) => {
    const { name, startMs, endMs, attributes, more, isError } = described
    const traceId = call.journal.traceId ?? traceIdOf(call)
    const server = { traceId, spanId: idOf(call.guid, 16), traceFlags: 1 }
    const sentId = attempt && (spanIds.get(attempt) ?? idOf(randomUUID(), 16))
    const parent = attempt ? trace.setSpanContext(ROOT_CONTEXT, server) : contextOf(call)
    const kind = attempt ? SpanKind.CLIENT : SpanKind.SERVER
    const epochMs = clock.wallMs() - clock.nowMs()
    Object.assign(ids, { traceId: server.traceId, spanId: sentId ?? server.spanId })
    const span = tracer.startSpan(name, { kind, startTime: epochMs + startMs }, parent)
    span.setAttributes({ ...attributes, ...identify(call), ...more })
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
    for (const [event, atMs, of] of eventsOf(call.journal, endMs, attempt))
      span.addEvent(`rpc_router.${event}`, of, epochMs + atMs)
    span.end(epochMs + endMs)
  }

  return {
    listenerObserver: perListener((served) => ({
      callEnded(call: Call, end: CallEnd, durationMs: number) {
        if (!samples(call)) return
        makeSpan(call, describeCall(call, end, durationMs, served))
        // The relay reports no attempts of subscriptions.
        if (end.kind === 'subscription')
          for (const each of call.journal.attempts)
            makeSpan(call, describeAttempt(call, each, served), each)
      },
    })),

    relayObserver: perListener((served) => ({
      attemptEnded(call: Call, attempt: AttemptRecord) {
        if (samples(call)) makeSpan(call, describeAttempt(call, attempt, served), attempt)
      },
    })),

    traceHeaders: perListener((): TraceHeaders => (call, attempt) => {
      const clientTrace = call.directives.trace
      const spanId = idOf(randomUUID(), 16)
      const isSampled = samples(call)
      if (isSampled) spanIds.set(attempt, spanId)
      const parent = `00-${traceIdOf(call)}-${spanId}-${isSampled ? '01' : '00'}`
      return headersOf({ parent, state: clientTrace?.state ?? null })
    }),
  }
}

type Event = readonly [name: string, atMs: number, attributes?: Attributes]

function eventsOf(journal: Journal, endMs: number, attempt?: AttemptRecord): readonly Event[] {
  const isLimited = typeof attempt?.result === 'object' && attempt.result?.cooldown
  if (attempt) return isLimited ? [['cooldown', endMs]] : []
  const { cache, crossValidation, attempts, startedMs } = journal
  const events: Event[] = []
  if (cache) events.push(['cache', startedMs, { ...cache, why: cache.why ?? undefined }])
  for (const { kind, upstream, startedMs: atMs } of attempts)
    if (kind !== 'first' && kind !== 'broadcast') events.push([kind, atMs, { upstream }])
  if (crossValidation) {
    const { agreeing, disagreeing, failure } = crossValidation
    const vote = { agreeing: [...agreeing], disagreeing: [...disagreeing] }
    events.push(['vote', endMs, { ...vote, status: failure ?? 'success' }])
  }
  return events
}

/** The client's trace id, or one derived from the guid. */
function traceIdOf({ guid, directives }: Call): string {
  return directives.trace?.parent.slice(3, 35) ?? idOf(guid, 32)
}

/** The last digits of a guid. Batch items and messages share a guid, so they use a digest. */
function idOf(guid: string, digits: 16 | 32): string {
  if (guid.length !== 36) return hash('sha256', guid).slice(-digits)
  // Runs on each call, and is faster than replacing the hyphens.
  const end = guid.slice(19, 23) + guid.slice(24)
  return digits === 16 ? end : guid.slice(0, 8) + guid.slice(9, 13) + guid.slice(14, 18) + end
}

/** The trace context of the client. */
function contextOf({ directives: { trace: clientTrace } }: Call): Context {
  if (clientTrace === null) return ROOT_CONTEXT
  const headers = { traceparent: clientTrace.parent, tracestate: clientTrace.state }
  return propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
}

const grpcCodes =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  )
/** gRPC statuses that blame the server, including none at all; the others blame the request. */
const serverFaults = new Set([null, 2, 4, 12, 13, 14, 15])
const maxText = 100

/** Describes a call. The values of its attributes are bounded: an unknown method is `_OTHER`. */
function describeCall(call: Call, end: CallEnd, tookMs: number, served: Served): Described {
  const { interface: of } = served
  const { startedMs: startMs } = call.journal
  const outcome = outcomeOf(call, end)
  const reply = end.kind === 'reply' ? end.reply : null
  const errorType = reply?.refusal?.name ?? (outcome === 'success' ? null : outcome)
  const status = statusOf(call, end, of)
  // In JSON-RPC, every error answer counts as a server fault.
  const isFault = of === 'rest' ? Number(status) >= 500 : of !== 'grpc' || serverFaults.has(status)
  return {
    ...named(call, served, 'http.route', ending(status, errorType, of)),
    ...{ startMs, endMs: startMs + tookMs },
    isError: errorType !== null && outcome !== 'abandoned' && isFault,
    more: { 'rpc_router.outcome': outcome, 'rpc_router.upstream': reply?.upstream },
  }
}

/** The same for a finished attempt. A cancelled attempt is not an error. */
function describeAttempt(call: Call, attempt: AttemptRecord, served: Served) {
  const { upstream, origin, kind, startedMs: startMs, endedMs, detail } = attempt
  const result = resultOf(attempt)
  const isError = result !== 'answer' && !isCancelled(attempt.result)
  const errorType = !isError ? null : result === 'node-error' ? (detail ?? result) : result
  const status = served.interface === 'rest' ? attempt.httpStatus : attempt.code
  const at = { 'rpc_router.upstream': upstream, ...serverOf(origin) }
  const ended = { ...at, ...ending(status, errorType, served.interface) }
  return {
    ...named(call, served, 'url.template', ended),
    /** On the clock's monotonic scale. */
    ...{ startMs, endMs: endedMs ?? startMs, isError },
    /** For spans only. They omit undefined values. */
    more: { 'rpc_router.attempt.kind': kind, 'rpc_router.attempt.result': result } as Attributes,
  }
}

/** Attributes for spans only, because clients can choose any values. */
function identify({ method, guid, reader }: Call): Attributes {
  const { ownId, form } = reader
  // Only a JSON-RPC body has an id. Elsewhere, an unknown method is a path, maybe with a key.
  if (!ownId) return { 'rpc_router.guid': guid }
  const id = Buffer.from(ownId.subarray(0, maxText)).toString()
  return {
    'rpc_router.guid': guid,
    'rpc.method_original': method.known ? undefined : method.name.slice(0, maxText),
    'jsonrpc.request.id': id === 'null' ? undefined : id.replace(/^"(.*?)"?$/, '$1'),
    'jsonrpc.protocol.version': form ? `${form}.0` : undefined,
  }
}

function named(
  { method: spec, request: { verb } }: Call,
  served: Served,
  path: string,
  more: Attributes,
) {
  const { chain, interface: of } = served
  const method = spec.known ? spec.name : ''
  const own = { 'rpc_router.chain': chain, 'rpc_router.interface': of, ...more }
  if (of === 'rest') {
    const name = method ? `${verb} ${method}` : verb
    const rest = { 'http.request.method': verb, ...(method && { [path]: method }) }
    return { name, attributes: { ...own, ...rest } }
  }
  const system = of === 'grpc' ? 'grpc' : 'jsonrpc'
  const rpc = { 'rpc.system.name': system, 'rpc.method': method || '_OTHER' }
  return { name: method || system, attributes: { ...own, ...rpc } }
}

/** The status that the client got: of HTTP for REST, of gRPC, or a JSON-RPC error code; or null. */
function statusOf({ reader }: Call, end: CallEnd, of: ApiInterface): number | null {
  if (end.kind === 'error') {
    const { httpStatus: rest, grpcStatus: grpc, jsonRpcCode } = end.error.kind
    return of === 'rest' ? rest : of === 'grpc' ? grpc : jsonRpcCode
  }
  if (end.kind !== 'reply') return null
  const { incoming, refusal } = end.reply
  if (of === 'rest') return incoming.status
  if (of === 'grpc') return readStatus(incoming)?.code ?? null
  // The rest of a stream has already been read.
  if (refusal === null || !(incoming.body instanceof Uint8Array)) return null
  const content = reader.read(incoming)
  return content.kind === 'node-error' ? content.error.code : null
}

/** Attributes for the end of a call or an attempt. */
function ending(status: number | null, errorType: string | null, of: ApiInterface): Attributes {
  const failed: Attributes = errorType === null ? {} : { 'error.type': errorType }
  if (of === 'rest') return { ...failed, ...(status && { 'http.response.status_code': status }) }
  const code = of === 'grpc' && status !== null ? (grpcCodes[status] ?? status) : status
  // JSON-RPC has no success code.
  return { ...failed, ...(code && { 'rpc.status_code': String(code) }) }
}

/** `server.address` and `server.port` of a config origin. Any part may be a placeholder. */
const serverOf = memo((origin): Attributes => {
  const [, scheme = '', host, text] = /^(?:(\w+):\/\/)?\[?(.*?)\]?(?::(\d+))?$/.exec(origin) ?? []
  if (!host) return {}
  const port = Number(text) || (/s$/i.test(scheme) ? 443 : 80)
  return { 'server.address': host, ...(!host.includes('$') && { 'server.port': port }) }
})
