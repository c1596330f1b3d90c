// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test, vi } from 'vitest'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { ApiInterface } from '../../config/types.ts'
import { makeOwnCall } from '../../listener/jsonrpc/jsonrpc-call.ts'
import type { CallEnd } from '../../listener/listener.ts'
import type { AttemptRecord, Call } from '../../relay/call.ts'
import { errorKinds, RelayError } from '../../relay/errors.ts'
import { aCall, aFailure, anAttempt, repliedBy } from '../call.fixture.ts'
import { createCallSpans, SpanIds } from './call-spans.ts'
import { samplerOf } from './start.ts'

function tracing(
  apiInterface: ApiInterface = 'jsonrpc',
  sampler = 'parentbased_always_on',
  arg = '',
) {
  const exporter = new InMemorySpanExporter()
  const ids = new SpanIds()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const tracer = new TracerProvider({ spanProcessors, idGenerator: ids }).getTracer('test')
  const startSpan = vi.spyOn(tracer, 'startSpan')
  const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: arg }
  const clock = new VirtualClock()
  const spans = createCallSpans({ tracer, ids, sampler: samplerOf(env), clock })
  const listenerObserver = spans.listenerObserver('ETH1', apiInterface)
  const { attemptEnded } = spans.relayObserver('ETH1', apiInterface)
  const callEnded: typeof listenerObserver.callEnded = (call, ...end) => {
    const isRelayed = end[0].kind !== 'subscription'
    for (const each of call.journal.attempts)
      if (isRelayed && each.result !== null) attemptEnded(call, each)
    listenerObserver.callEnded(call, ...end)
  }
  const traceHeaders = spans.traceHeaders('ETH1', apiInterface)
  const found = () => {
    const all = exporter.getFinishedSpans()
    return {
      server: all.find(({ kind }) => kind === SpanKind.SERVER)!,
      clients: all.filter(({ kind }) => kind === SpanKind.CLIENT),
      all,
    }
  }
  return { callEnded, attemptEnded, traceHeaders, found, clock, startSpan }
}

const ms = ([seconds, nanos]: readonly [number, number]) => seconds * 1_000 + nanos / 1e6
const parent = '00-8af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const traced = (call: Call, context = parent, state: string | null = null): Call => ({
  ...call,
  directives: { ...call.directives, trace: { parent: context, state } },
})
const failed = (kind = errorKinds.upstreamFailed): CallEnd => ({
  kind: 'error',
  error: new RelayError(kind, 'words that may hold anything'),
})

test('a retried call has a server span, and a client span for each attempt, at the right times', () => {
  const { callEnded, found, clock } = tracing()
  const call = traced(aCall())
  const limited = { ...aFailure('http-rate-limited'), cooldown: true }
  anAttempt(call, 'node-a', limited, { tookMs: 12.5 })
  const second = anAttempt(call, 'node-b', 'answer', { kind: 'retry', tookMs: 40 })
  call.journal.cache = { verdict: 'miss', ageClass: 'latest', why: null }
  callEnded(call, repliedBy('node-b'), 41)
  const { server, clients } = found()
  expect(server).toMatchObject({
    name: 'eth_call',
    parentSpanContext: { traceId: '8af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' },
    status: { code: SpanStatusCode.UNSET },
    attributes: {
      'rpc.system.name': 'jsonrpc',
      'rpc.method': 'eth_call',
      'rpc_router.guid': 'guid-1',
      'rpc_router.chain': 'ETH1',
      'rpc_router.upstream': 'node-b',
      'rpc_router.outcome': 'success',
    },
  })
  expect(server.attributes).not.toHaveProperty('error.type')
  expect(ms(server.startTime)).toBeCloseTo(clock.wallMs() - clock.nowMs(), 3)
  expect(ms(server.duration)).toBeCloseTo(41, 3)
  expect(server.events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['rpc_router.cache', { verdict: 'miss', ageClass: 'latest' }],
    ['rpc_router.retry', { upstream: 'node-b' }],
  ])
  expect(
    clients.map((span) => [span.attributes['rpc_router.upstream'], ms(span.duration)]),
  ).toEqual([
    ['node-a', 12.5],
    ['node-b', second.endedMs],
  ])
  expect(clients[0]).toMatchObject({
    parentSpanContext: { spanId: server.spanContext().spanId },
    status: { code: SpanStatusCode.ERROR },
    events: [{ name: 'rpc_router.cooldown' }],
    attributes: { 'error.type': 'http-rate-limited', 'rpc_router.attempt.kind': 'first' },
  })
  expect(call.journal.traceId).toBe('8af7651916cd43dd8448eb211c80319c')
})

test('a subscription has a server span, and a client span at the upstream that accepted it', () => {
  const { callEnded, found } = tracing()
  const call = aCall({ method: 'eth_subscribe' })
  anAttempt(call, 'node-a', 'answer', { tookMs: 30 })
  callEnded(call, { kind: 'subscription', isRefused: false }, 31)
  const { server, clients, all } = found()
  expect(all).toHaveLength(2)
  expect(server.name).toBe('eth_subscribe')
  expect(clients).toMatchObject([
    {
      name: 'eth_subscribe',
      parentSpanContext: { spanId: server.spanContext().spanId },
      attributes: { 'rpc_router.upstream': 'node-a' },
    },
  ])
})

test('a vote is an event with the names of the agreeing upstreams', () => {
  const { callEnded, found } = tracing()
  const call = aCall()
  const vote = { agreeing: ['a', 'b'], disagreeing: ['c'], all: ['a', 'b', 'c'], failure: null }
  call.journal.crossValidation = vote
  callEnded(call, repliedBy('a'), 1)
  expect(found().server.events).toMatchObject([
    {
      name: 'rpc_router.vote',
      attributes: { agreeing: ['a', 'b'], disagreeing: ['c'], status: 'success' },
    },
  ])
})

const reverted: CallEnd = repliedBy('a', aFailure('execution-reverted'))
const jsonRpc = { 'rpc.system.name': 'jsonrpc' }
const grpcNames = (method: string) => ({ 'rpc.system.name': 'grpc', 'rpc.method': method })
const statusIn = (apiInterface: ApiInterface) =>
  apiInterface === 'rest' ? 'http.response.status_code' : 'rpc.status_code'
const fromBody = (call: Call, ownId: string): Call => ({
  ...call,
  reader: { ...call.reader, ownId: Buffer.from(ownId), form: '2' },
})
const nodeError = { kind: 'node-error', error: { status: 200, code: 3, message: 'no' } } as const

/** The answer of a gRPC node that refused. */
const refused: CallEnd = repliedBy('a', aFailure('execution-reverted'), 200, 3)

test.each<
  [ApiInterface, string, CallEnd, status: string | number | undefined, type: string, is: boolean]
>([
  ['jsonrpc', 'an error of the router', failed(), '-32052', 'upstream-failed', true],
  ['jsonrpc', 'an error of the node', reverted, '3', 'execution-reverted', true],
  ['jsonrpc', 'a client that left', { kind: 'abandoned' }, undefined, 'abandoned', false],
  ['rest', 'an error of the router', failed(), 502, 'upstream-failed', true],
  ['rest', 'a client error', repliedBy('a', aFailure('x'), 404), 404, 'x', false],
  ['grpc', 'an error of the router', failed(), 'UNAVAILABLE', 'upstream-failed', true],
  ['grpc', 'a client error', refused, 'INVALID_ARGUMENT', 'execution-reverted', false],
])('%s, %s', (apiInterface, _, end, status, errorType, isError) => {
  const { callEnded, found } = tracing(apiInterface)
  const call = { ...aCall(), reader: { ...aCall().reader, read: () => nodeError } }
  anAttempt(call, 'a', 'node-error')
  callEnded(call, end, 1)
  const { attributes, status: shown } = found().server
  expect(attributes[statusIn(apiInterface)]).toBe(status)
  expect(attributes['error.type']).toBe(errorType)
  expect(shown.code === SpanStatusCode.ERROR).toBe(isError)
  expect(JSON.stringify([attributes, shown])).not.toContain('words')
})

test.each<
  [ApiInterface, AttemptRecord['result'], Partial<AttemptRecord>, string | number | undefined]
>([
  ['jsonrpc', 'node-error', { httpStatus: 200, code: -32_000 }, '-32000'],
  ['jsonrpc', 'answer', { httpStatus: 200, code: 0 }, undefined],
  ['jsonrpc', aFailure('http-rate-limited'), { httpStatus: 429 }, undefined],
  ['grpc', 'answer', { httpStatus: 200, code: 0 }, 'OK'],
  ['grpc', 'answer', { httpStatus: 200 }, undefined],
  ['grpc', aFailure('internal'), { httpStatus: 200, code: 13 }, 'INTERNAL'],
  ['rest', 'node-error', { httpStatus: 404, code: 5 }, 404],
  ['rest', aFailure('connection-refused'), {}, undefined],
])('%s: the status of an attempt that ended with %s', (apiInterface, result, answer, status) => {
  const { callEnded, found } = tracing(apiInterface)
  const call = aCall()
  Object.assign(anAttempt(call, 'a', result), answer)
  callEnded(call, repliedBy('a'), 1)
  expect(found().clients[0]?.attributes[statusIn(apiInterface)]).toBe(status)
})

test.each<[ApiInterface, method: string, known: boolean, name: string, attributes: object]>([
  ['jsonrpc', 'eth_call', true, 'eth_call', { ...jsonRpc, 'rpc.method': 'eth_call' }],
  ['tendermintrpc', 'status', true, 'status', { ...jsonRpc, 'rpc.method': 'status' }],
  ['tendermintrpc', 'key-of-a-path', false, 'jsonrpc', { ...jsonRpc, 'rpc.method': '_OTHER' }],
  ['grpc', 'bank.Query/Balance', true, 'bank.Query/Balance', grpcNames('bank.Query/Balance')],
  ['grpc', 'key-of-a.Path/X', false, 'grpc', grpcNames('_OTHER')],
  ['rest', '/bank/{address}', true, 'POST /bank/{address}', { 'http.request.method': 'POST' }],
  ['rest', '/bank/key-of-a-path', false, 'POST', { 'http.request.method': 'POST' }],
])('%s %s (known: %s) is named %s', (apiInterface, method, known, name, attributes) => {
  const { callEnded, found } = tracing(apiInterface)
  const call = aCall({ method, known })
  anAttempt(call, 'a', 'answer')
  callEnded(call, repliedBy('a'), 1)
  const { server, clients } = found()
  for (const span of [server, ...clients]) expect(span).toMatchObject({ name, attributes })
  const isRouted = apiInterface === 'rest' && known
  expect(server.attributes['http.route']).toBe(isRouted ? method : undefined)
  expect(clients[0]?.attributes['url.template']).toBe(isRouted ? method : undefined)
  expect(Object.keys(server.attributes).some((each) => each.startsWith('rpc.'))).toBe(
    apiInterface !== 'rest',
  )
  expect(JSON.stringify([server.attributes, clients[0]?.attributes])).not.toContain('key-of')
})

test('a method in a JSON-RPC body is in both spans if no spec knows it', () => {
  const { callEnded, found } = tracing()
  const call = fromBody(aCall({ method: 'my_own', known: false }), '7')
  anAttempt(call, 'a', 'answer')
  callEnded(call, repliedBy('a'), 1)
  const { server, clients } = found()
  for (const span of [server, ...clients])
    expect(span).toMatchObject({
      name: 'jsonrpc',
      attributes: {
        'rpc.method': '_OTHER',
        'rpc.method_original': 'my_own',
        'jsonrpc.request.id': '7',
        'jsonrpc.protocol.version': '2.0',
        'rpc_router.guid': 'guid-1',
      },
    })
})

test('names and ids from clients are truncated', () => {
  const { callEnded, found } = tracing()
  const call = aCall({ method: 'x'.repeat(5_000), known: false })
  callEnded(fromBody(call, JSON.stringify('y'.repeat(5_000))), repliedBy('a'), 1)
  const { attributes, name } = found().server
  expect(name).toBe('jsonrpc')
  expect(String(attributes['rpc.method_original'])).toHaveLength(100)
  expect(String(attributes['jsonrpc.request.id']).length).toBeLessThanOrEqual(100)
})

test.each([
  ['"abc"', 'abc'],
  ['7', '7'],
  ['null', undefined],
])('the id %s of a request', (json, shown) => {
  const { callEnded, found } = tracing()
  callEnded(fromBody(aCall(), json), repliedBy('a'), 1)
  expect(found().server.attributes['jsonrpc.request.id']).toBe(shown)
})

test.each([
  ['https://node.example.com', { 'server.address': 'node.example.com', 'server.port': 443 }],
  ['http://[::1]:8545', { 'server.address': '::1', 'server.port': 8545 }],
  ['grpc://10.0.0.1:9090', { 'server.address': '10.0.0.1', 'server.port': 9090 }],
  ['https://node:${PORT}', { 'server.address': 'node:${PORT}' }],
  ['', {}],
])('an attempt at "%s" has the address of its server', (origin, attributes) => {
  const { callEnded, found } = tracing()
  const call = aCall()
  const attempt = call.journal.begin('a', 'first', 0, origin)
  Object.assign(attempt, { endedMs: 1, result: 'answer' })
  callEnded(call, repliedBy('a'), 1)
  const { clients } = found()
  expect(clients[0]).toMatchObject({ attributes })
  expect('server.address' in clients[0]!.attributes).toBe('server.address' in attributes)
})

test('an attempt that outlives the answer has its span when it ends', () => {
  const { callEnded, attemptEnded, found } = tracing()
  const call = aCall()
  anAttempt(call, 'a', 'answer', { kind: 'broadcast' })
  const late = call.journal.begin('b', 'broadcast', 0)
  callEnded(call, repliedBy('a'), 10)
  expect(found().clients).toHaveLength(1)
  Object.assign(late, { endedMs: 900, result: 'answer' })
  attemptEnded(call, late)
  const { server, clients } = found()
  expect(clients.map(({ attributes }) => attributes['rpc_router.upstream'])).toEqual(['a', 'b'])
  expect(clients[1]?.parentSpanContext?.spanId).toBe(server.spanContext().spanId)
})

test('an attempt of a vote that outlives the answer has its span too', () => {
  const { callEnded, attemptEnded, found } = tracing()
  const call = aCall()
  const ofVote = aCall()
  const late = ofVote.journal.begin('b', 'first', 0)
  call.journal.attempts.push(late)
  callEnded(call, repliedBy('a'), 10)
  Object.assign(late, { endedMs: 900, result: 'answer' })
  attemptEnded(ofVote, late)
  const { server, clients } = found()
  expect(clients.map(({ parentSpanContext }) => parentSpanContext)).toMatchObject([
    { spanId: server.spanContext().spanId, traceId: server.spanContext().traceId },
  ])
})

test('a trace that the router starts has the digits of its guid; each item of a batch has its own', () => {
  const { callEnded, found } = tracing()
  const guid = 'ca5c89cb-1f90-4b85-a45f-f26b3cb66db9'
  for (const own of [guid, `${guid}-0`, `${guid}-1`, `${guid}-11`, `${guid}-1-1`])
    callEnded(aCall({ guid: own }), repliedBy('a'), 1)
  const ids = found().all.map((span) => span.spanContext())
  expect(ids[0]?.traceId).toBe('ca5c89cb1f904b85a45ff26b3cb66db9')
  expect(new Set(ids.map(({ traceId }) => traceId)).size).toBe(5)
  expect(new Set(ids.map(({ spanId }) => spanId)).size).toBe(5)
  for (const { traceId } of ids) expect(traceId).toMatch(/^[\da-f]{32}$/)
})

test('a share of calls is sampled by trace, and the others create no span', () => {
  const { callEnded, found, startSpan } = tracing('jsonrpc', 'parentbased_traceidratio', '0.1')
  for (let at = 0; at < 2_000; at += 1) {
    const call = aCall({ guid: `guid-${at}` })
    anAttempt(call, 'a', 'answer')
    callEnded(call, repliedBy('a'), 1)
  }
  const { all } = found()
  expect(startSpan).toHaveBeenCalledTimes(all.length)
  expect(all.length / 2 / 2_000).toBeGreaterThan(0.07)
  expect(all.length / 2 / 2_000).toBeLessThan(0.13)
})

test.each(['parentbased_always_on', 'parentbased_always_off'])(
  'an attempt that fails over after the answer belongs to the same trace (%s)',
  async (sampler) => {
    const { callEnded, attemptEnded, traceHeaders, found } = tracing('jsonrpc', sampler)
    const call = aCall()
    anAttempt(call, 'a', 'answer', { kind: 'broadcast' })
    const late = call.journal.begin('b', 'broadcast', 0)
    const [, first] = traceHeaders(call, late)
    callEnded(call, repliedBy('a'), 10)
    for (let at = 0; at < 2; at += 1) {
      const [failing] = call.journal.attempts.slice(-1)
      Object.assign(failing!, { endedMs: 900, result: aFailure('connection-refused') })
      attemptEnded(call, failing!)
      const next = call.journal.begin('b', 'failover', 900)
      const [, context] = traceHeaders(call, next)
      expect(context?.split('-')[1]).toBe(first?.split('-')[1])
      await Promise.resolve()
    }
    const last = call.journal.attempts.at(-1)!
    Object.assign(last, { endedMs: 950, result: 'answer' })
    attemptEnded(call, last)
    const { all, clients } = found()
    expect([all.length, clients.length]).toEqual(sampler.endsWith('on') ? [5, 4] : [0, 0])
  },
)

test('the context for an upstream has the span of its attempt, also in a vote with its own journal', () => {
  const { callEnded, traceHeaders, found } = tracing()
  const call = traced(aCall(), parent, 'vendor=1')
  const attempt = anAttempt(call, 'a', 'answer')
  const headers = traceHeaders({ ...call, journal: aCall().journal }, attempt)
  callEnded(call, repliedBy('a'), 10)
  const { server, clients, all } = found()
  expect(all).toHaveLength(2)
  const { traceId, spanId } = clients[0]!.spanContext()
  expect(headers).toEqual(['traceparent', `00-${traceId}-${spanId}-01`, 'tracestate', 'vendor=1'])
  expect(traceId).toBe('8af7651916cd43dd8448eb211c80319c')
  expect(clients[0]?.parentSpanContext?.spanId).toBe(server.spanContext().spanId)
})

test('an unsampled call has a context, but no span and no trace in the log', () => {
  const { callEnded, traceHeaders, found } = tracing('jsonrpc', 'parentbased_always_off')
  const call = aCall()
  const [, context] = traceHeaders(call, anAttempt(call, 'a', 'answer'))
  expect(context).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/)
  callEnded(call, repliedBy('a'), 10)
  expect([found().all, call.journal.traceId]).toEqual([[], null])
})

test('requests of the router itself have no span', () => {
  const { attemptEnded, found } = tracing()
  const iface = { classify: () => aCall().method }
  const { signal } = new AbortController()
  const question = { method: 'eth_getLogs', params: [], prefer: null, avoid: [], signal }
  const call = makeOwnCall(question, 'guid-1', { iface, clock: new VirtualClock() } as never)
  attemptEnded(call, anAttempt(call, 'a', 'answer'))
  expect(found().all).toEqual([])
})

test('rpc-debug-relay forces the spans of a call and of its attempts', () => {
  const { callEnded, found } = tracing('jsonrpc', 'parentbased_always_off')
  const call = aCall({ debugRelay: true })
  anAttempt(call, 'a', 'answer')
  callEnded(call, repliedBy('a'), 10)
  expect(found().all).toHaveLength(2)
})
