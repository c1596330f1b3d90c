// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { SpanKind } from '@opentelemetry/api'
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { Metadata } from '@grpc/grpc-js'
import { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { patientClock } from '../../proxy/clock/testing/patient-clock.ts'
import { createCallSpans, SpanIds } from '../../proxy/telemetry/otel/call-spans.ts'
import { answerWith, RawNode } from '../grpc/raw-node.ts'
import { EchoClient } from '../grpc/echo-client.ts'
import { serveRouter, uncached, type ServedRouterOptions } from '../served/served-router.ts'

/*
 * Trace context from the client to the nodes, over real sockets.
 */

const traceId = '8af7651916cd43dd8448eb211c80319c'
const parent = `00-${traceId}-b7ad6b7169203331-01`
const read = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_gasPrice', params: [] })

interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders
  readonly isBatch: boolean
}

/** A node that records headers, and may refuse traced calls on demand. Probes have no trace. */
async function startNode(refusing?: Promise<void>) {
  const requests: ReceivedRequest[] = []
  const answer = ({ id }: { readonly id: number }) => ({ jsonrpc: '2.0', id, result: '0x1' })
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const isBatch = Array.isArray(body)
      requests.push({ headers: request.headers, isBatch })
      if (refusing && request.headers['traceparent'] !== undefined)
        return void refusing.then(() => response.writeHead(429).end())
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(isBatch ? body.map(answer) : answer(body as { id: number })))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    traced: () => requests.filter(({ headers }) => headers['traceparent'] !== undefined),
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function startTracing() {
  const exporter = new InMemorySpanExporter()
  const ids = new SpanIds()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const tracer = new TracerProvider({ spanProcessors, idGenerator: ids }).getTracer('test')
  const sampler = new AlwaysOnSampler()
  const tracing = createCallSpans({ tracer, ids, sampler, clock: patientClock })
  const ofKind = (kind: SpanKind) =>
    exporter.getFinishedSpans().filter((span) => span.kind === kind)
  return { tracing, ofKind }
}

const asksAlone = { 'skip-verifications': ['*'] }

async function served(
  nodeUrl: string,
  urlSettings: Readonly<Record<string, unknown>>,
  more: Partial<ServedRouterOptions> = {},
) {
  return serveRouter({
    primaries: [{ name: 'node', url: nodeUrl }],
    urlSettings: { node: { ...asksAlone, ...urlSettings } },
    settings: uncached,
    ...more,
  })
}

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test('a node with trace context enabled gets the span of its attempt', async () => {
  await using node = await startNode()
  const { tracing, ofKind } = startTracing()
  await using router = await served(node.url, { 'trace-context': true }, { tracing })
  await post(router.url, read(1), { traceparent: parent, tracestate: 'vendor=1' })
  await expect.poll(() => ofKind(SpanKind.SERVER)).toHaveLength(1)
  const [client] = ofKind(SpanKind.CLIENT)
  expect(
    node.traced().map(({ headers }) => [headers['traceparent'], headers['tracestate']]),
  ).toEqual([[`00-${traceId}-${client?.spanContext().spanId}-01`, 'vendor=1']])
  expect(ofKind(SpanKind.SERVER)[0]).toMatchObject({
    parentSpanContext: { traceId, spanId: 'b7ad6b7169203331' },
    attributes: { 'rpc.method': 'eth_gasPrice', 'jsonrpc.request.id': '1' },
  })
  expect(client?.attributes['server.address']).toBe('127.0.0.1')
})

test('an attempt that continues after the answer belongs to the trace', async () => {
  const refuse = Promise.withResolvers<void>()
  await using slow = await startNode(refuse.promise)
  await using quick = await startNode()
  await using next = await startNode()
  const { tracing, ofKind } = startTracing()
  const takesTrace = { ...asksAlone, 'trace-context': true }
  await using router = await serveRouter({
    primaries: [
      { name: 'quick', url: quick.url },
      { name: 'slow', url: slow.url, nextUrl: next.url },
    ],
    urlSettings: { quick: takesTrace, slow: takesTrace },
    settings: uncached,
    tracing,
  })
  const write = { ...read(1), method: 'eth_sendRawTransaction', params: ['0x00'] }
  await post(router.url, write, { traceparent: parent })
  await expect.poll(() => ofKind(SpanKind.SERVER)).toHaveLength(1)
  refuse.resolve()
  await expect.poll(() => ofKind(SpanKind.CLIENT)).toHaveLength(3)
  const last = ofKind(SpanKind.CLIENT).at(-1)
  expect(last?.attributes).toMatchObject({ 'rpc_router.attempt.kind': 'failover' })
  expect(next.traced().map(({ headers }) => headers['traceparent'])).toEqual([
    `00-${traceId}-${last?.spanContext().spanId}-01`,
  ])
  expect(ofKind(SpanKind.SERVER)).toHaveLength(1)
})

test('any other node gets no trace context, but its attempt has a span', async () => {
  await using node = await startNode()
  const { tracing, ofKind } = startTracing()
  await using router = await served(node.url, {}, { tracing })
  await post(router.url, read(1), { traceparent: parent, tracestate: 'vendor=1' })
  await expect.poll(() => ofKind(SpanKind.SERVER)).toHaveLength(1)
  expect(ofKind(SpanKind.CLIENT)).toHaveLength(1)
  expect(node.requests.length).toBeGreaterThan(0)
  for (const { headers } of node.requests)
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^trace/)]),
    )
})

test("without tracing the router forwards the client's trace context", async () => {
  await using node = await startNode()
  await using router = await served(node.url, { 'trace-context': true })
  await post(router.url, read(1), { traceparent: parent })
  await post(router.url, read(1), { traceparent: 'junk' })
  await post(router.url, read(1))
  expect(node.traced().map(({ headers }) => headers['traceparent'])).toEqual([parent])
})

test('each item of a batch has a span, and the request to the node has the context of one', async () => {
  await using node = await startNode()
  const { tracing, ofKind } = startTracing()
  await using router = await served(node.url, { 'trace-context': true }, { tracing })
  await post(router.url, [read(1), read(2), read(3)], { traceparent: parent })
  await expect.poll(() => ofKind(SpanKind.SERVER)).toHaveLength(3)
  const servers = ofKind(SpanKind.SERVER)
  expect(servers.map((span) => span.attributes['jsonrpc.request.id'])).toEqual(['1', '2', '3'])
  expect(new Set(servers.map(({ parentSpanContext }) => parentSpanContext?.traceId))).toEqual(
    new Set([traceId]),
  )
  const [sent] = node.traced()
  expect(sent?.isBatch).toBe(true)
  const ids = ofKind(SpanKind.CLIENT).map((span) => span.spanContext().spanId)
  expect(ids).toContain(sent?.headers['traceparent']?.toString().split('-')[2])
})

test('calls of a WebSocket belong to the trace of its upgrade', async () => {
  await using node = await startNode()
  const { tracing, ofKind } = startTracing()
  await using router = await served(node.url, {}, { tracing })
  const socket = new WebSocket(router.socketUrl, { headers: { traceparent: parent } })
  await once(socket, 'open')
  socket.send(JSON.stringify(read(7)))
  await once(socket, 'message')
  socket.close()
  await expect.poll(() => ofKind(SpanKind.SERVER)).toHaveLength(1)
  expect(ofKind(SpanKind.SERVER)[0]?.spanContext().traceId).toBe(traceId)
})

test('gRPC metadata carries the trace context from the client and to the node', async () => {
  const seen: unknown[] = []
  await using node = await new RawNode((stream, headers) => {
    if (headers['traceparent'] !== undefined) seen.push(headers['traceparent'])
    stream.resume()
    answerWith(stream, ['well'])
  }).start()
  const { tracing, ofKind } = startTracing()
  await using router = await served(
    `grpc://127.0.0.1:${node.port}`,
    { 'trace-context': true },
    {
      tracing,
      chainId: 'ECHO',
      apiInterface: 'grpc',
      specSources: [new URL('../grpc/echo.yml', import.meta.url).pathname],
    },
  )
  using client = new EchoClient(router.port)
  const metadata = new Metadata()
  metadata.set('traceparent', parent)
  await client.run('Unary', ['x'], metadata)
  await expect.poll(() => ofKind(SpanKind.SERVER)).toHaveLength(1)
  const [clientSpan] = ofKind(SpanKind.CLIENT)
  expect(seen).toEqual([`00-${traceId}-${clientSpan?.spanContext().spanId}-01`])
  expect(ofKind(SpanKind.SERVER)[0]).toMatchObject({
    name: 'test.Echo/Unary',
    attributes: { 'rpc.system.name': 'grpc', 'rpc.status_code': 'OK' },
  })
  expect(clientSpan?.attributes['rpc.status_code']).toBe('OK')
})
