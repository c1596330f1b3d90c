// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Attributes } from '@opentelemetry/api'
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { ATTR_RPC_STATUS_CODE } from '@opentelemetry/semantic-conventions'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { ApiInterface } from '../../config/types.ts'
import type { CallEnd } from '../../listener/listener.ts'
import { errorKinds, RelayError } from '../../relay/errors.ts'
import { aCall, aFailure, repliedBy } from '../call.fixture.ts'

import { createCallSpans, SpanIds } from './call-spans.ts'

/** Attribute names from the conventions package, without deprecated ones. */
function conventionalNames(): ReadonlySet<string> {
  const entry = createRequire(import.meta.url).resolve('@opentelemetry/semantic-conventions')
  const text = ['stable_attributes', 'experimental_attributes']
    .map((file) => readFileSync(join(dirname(entry), `${file}.d.mts`), 'utf8'))
    .join('')
  const declared = text.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\ndeclare const ATTR_\w+: "(.*)"/g)
  const current = [...declared].filter(([, comment]) => !comment?.includes('@deprecated'))
  return new Set(current.map(([, , name]) => name ?? ''))
}

const failed: CallEnd = { kind: 'error', error: new RelayError(errorKinds.upstreamFailed, '') }

/** A call of 20 ms with an attempt of 10 ms, on a named upstream. */
function observed(apiInterface: ApiInterface, known: boolean, isFailed: boolean) {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const ids = new SpanIds()
  const tracer = new TracerProvider({ spanProcessors, idGenerator: ids }).getTracer('test')
  const sampler = new AlwaysOnSampler()
  const observers = createCallSpans({ tracer, ids, sampler, clock: new VirtualClock() })
  const plain = aCall({ method: 'asked', known })
  const isJson = ['jsonrpc', 'tendermintrpc'].includes(apiInterface)
  const own = isJson && { ownId: Buffer.from('1'), form: '2' }
  const call = { ...plain, reader: { ...plain.reader, ...own } }
  const attempt = call.journal.begin('node-a', 'first', 0, 'https://node.example.com')
  const answered = { result: 'answer', httpStatus: 200, code: 0 }
  const refused = { result: aFailure('internal'), httpStatus: 500, code: isJson ? -32_603 : 13 }
  Object.assign(attempt, isFailed ? refused : answered, { endedMs: 10 })
  observers.relayObserver('ETH1', apiInterface).attemptEnded(call, attempt)
  const end = isFailed ? failed : repliedBy('node-a')
  observers.listenerObserver('ETH1', apiInterface).callEnded(call, end, 20)
  return exporter.getFinishedSpans()
}

const of = (apiInterface: string) => ({
  'rpc_router.chain': 'ETH1',
  'rpc_router.interface': apiInterface,
})
const at = {
  'rpc_router.upstream': 'node-a',
  'server.address': 'node.example.com',
  'server.port': 443,
}
const jsonRpc = (rest: Attributes) => ({
  ...of('jsonrpc'),
  ...{ 'rpc.system.name': 'jsonrpc', 'rpc.method': 'asked', ...rest },
})
const grpc = (rest: Attributes) => ({
  ...of('grpc'),
  ...{ 'rpc.system.name': 'grpc', 'rpc.method': 'asked', ...rest },
})
const rest = (more: Attributes) => ({ ...of('rest'), 'http.request.method': 'POST', ...more })

test.each<[ApiInterface, boolean, server: Attributes, client: Attributes]>([
  ['jsonrpc', false, jsonRpc({}), jsonRpc(at)],
  [
    'jsonrpc',
    true,
    jsonRpc({ 'rpc.status_code': '-32052', 'error.type': 'upstream-failed' }),
    jsonRpc({ ...at, 'rpc.status_code': '-32603', 'error.type': 'internal' }),
  ],
  ['grpc', false, grpc({ 'rpc.status_code': 'OK' }), grpc({ ...at, 'rpc.status_code': 'OK' })],
  [
    'grpc',
    true,
    grpc({ 'rpc.status_code': 'UNAVAILABLE', 'error.type': 'upstream-failed' }),
    grpc({ ...at, 'rpc.status_code': 'INTERNAL', 'error.type': 'internal' }),
  ],
  [
    'rest',
    false,
    rest({ 'http.route': 'asked', 'http.response.status_code': 200 }),
    rest({ ...at, 'url.template': 'asked', 'http.response.status_code': 200 }),
  ],
  [
    'rest',
    true,
    rest({
      ...{ 'http.route': 'asked', 'http.response.status_code': 502 },
      'error.type': 'upstream-failed',
    }),
    rest({
      ...{ ...at, 'url.template': 'asked', 'http.response.status_code': 500 },
      'error.type': 'internal',
    }),
  ],
])('the attributes of %s (failed: %s)', (apiInterface, isFailed, server, client) => {
  const spans = observed(apiInterface, true, isFailed)
  expect(spans.map(({ attributes }) => attributes)).toMatchObject([client, server])
})

test('names outside the router’s own namespace are in the conventions, and not deprecated', () => {
  const conventional = conventionalNames()
  const used = new Set<string>()
  for (const apiInterface of ['jsonrpc', 'tendermintrpc', 'grpc', 'rest'] as const)
    for (const [known, isFailed] of [
      [true, false],
      [false, true],
    ] as const) {
      const spans = observed(apiInterface, known, isFailed)
      expect(spans).toHaveLength(2)
      for (const { attributes } of spans) for (const name of Object.keys(attributes)) used.add(name)
    }
  const borrowed = [...used].filter((name) => !name.startsWith('rpc_router.'))
  expect(borrowed.length).toBeGreaterThan(12)
  expect(borrowed.filter((name) => !conventional.has(name))).toEqual([])
  expect(conventional).toContain(ATTR_RPC_STATUS_CODE)
  expect(conventional).not.toContain('rpc.response.status_code')
})
