// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { parseConfig } from '../../config/parse.ts'
import type { CallEnd } from '../../listener/listener.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Call } from '../../relay/call.ts'
import type { Body } from '../../upstream/wire.ts'
import { aCall, aFailure, anAttempt } from '../call.fixture.ts'
import { createRecorder, type Recorder } from './recording.ts'

let directory: string
let path: string
let logged: string[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rpc-router-recorder-test-'))
  path = join(directory, 'calls.jsonl')
  logged = []
})
afterEach(() => rmSync(directory, { recursive: true }))

function create(
  more: { maxBytes?: number; withParams?: boolean } = {},
  fd = openSync(path, 'ax', 0o600),
) {
  const warn = (message: string, fields = {}) =>
    logged.push(`${message} ${JSON.stringify({ ...fields, file: undefined })}`)
  const options = { path, maxBytes: 1e9, withParams: true, clock: new VirtualClock() }
  return createRecorder({ ...options, logger: { warn }, ...more, fd })
}

function configWith(key: string) {
  const upstream = `{ name: a, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{ url: 'https://a.example/\${KEY}' }] }`
  const text = `endpoints: [{ network-address: ':1', chain-id: ETH1, api-interface: jsonrpc }]\ndirect-rpc: [${upstream}]`
  const { config, problems } = parseConfig(text, { environment: { KEY: key }, flags: {} })
  if (!config) throw new Error(JSON.stringify(problems))
  return config
}

function asking(text: string, path = ''): Call {
  const call = {
    ...aCall(),
    request: { verb: 'POST', path, headers: ['cookie', 'a-secret'], body: Buffer.from(text) },
  }
  anAttempt(call, 'a', 'answer')
  return call
}

function answered(body: Body, refusal: string | null = null): CallEnd {
  const incoming = { status: 200, headers: ['set-cookie', 'a-secret'], body, trailers: () => [] }
  const failure = refusal === null ? null : aFailure(refusal)
  return {
    kind: 'reply',
    reply: { incoming: incoming as never, upstream: 'a', latestBlock: null, refusal: failure },
  }
}

function record(recorder: Recorder, call: Call, end: CallEnd): void {
  recorder.listenerObserver('ETH1', 'jsonrpc').callEnded(call, end, 12.345)
}

async function written(recorder: Recorder) {
  await recorder.close()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a call with its answer, without headers', async () => {
  const recorder = create()
  record(recorder, asking('{"method":"é"}', '/C/rpc'), answered(Buffer.from('{}')))
  const [call] = await written(recorder)
  expect(call).toEqual({
    ...{ recording: 1, at: expect.any(String) as string, chain: 'ETH1', interface: 'jsonrpc' },
    ...{ method: 'eth_call', outcome: 'success', upstream: 'a', totalMs: 12.35 },
    exchange: { verb: 'POST', path: '/C/rpc', body: '{"method":"é"}', answer: '{}' },
  })
  expect(readFileSync(path, 'utf8')).not.toContain('a-secret')
})

test('gRPC bytes survive the text encoding', async () => {
  const recorder = create()
  const bytes = Buffer.from([0xff, 0, 0xc3, 0x28])
  const { callEnded } = recorder.listenerObserver('HUBCHAIN', 'grpc')
  callEnded(asking('{}'), answered(bytes), 1)
  const answer = bytes.toString('latin1')
  expect((await written(recorder))[0]).toMatchObject({ exchange: { answer } })
})

test.each<[string, Body]>([
  ['a body over 1 MiB', Buffer.alloc(1024 * 1024 + 1)],
  ['a stream', { async *[Symbol.asyncIterator]() {} }],
])('%s is left out, and so is its request', async (_, body) => {
  const recorder = create()
  record(recorder, asking('{}'), answered(body))
  expect((await written(recorder))[0]).toMatchObject({ exchange: 'over 1 MiB, or a stream' })
})

test('a call without an answer, and one without params', async () => {
  const recorder = create({ withParams: false })
  const error = new RelayError(errorKinds.timeout, 'too late: a-secret')
  record(recorder, asking('a-secret'), { kind: 'error', error })
  record(recorder, asking('a-secret'), answered(Buffer.from('a-secret'), 'execution-reverted'))
  const [failed, refused] = await written(recorder)
  const exchange = 'recorded without params'
  expect(failed).toMatchObject({ outcome: 'timeout', upstream: null, exchange })
  expect(refused).toMatchObject({ method: 'eth_call', upstream: 'a', exchange })
  expect(readFileSync(path, 'utf8')).not.toContain('a-secret')
})

test.each<[string, Partial<Call['method']>]>([
  ['a write', { kind: 'write' }],
  ['a subscription', { kind: 'subscribe' }],
  ['state that one node holds for its caller', { stateful: 'creates' }],
  ['a call that waits for a block', { waitsForBlock: true }],
  ['a method unknown to the spec', { known: false }],
])('for %s neither request nor answer is recorded', async (_, more) => {
  const recorder = create()
  const call = asking('a-secret')
  record(
    recorder,
    { ...call, method: { ...call.method, ...more } },
    answered(Buffer.from('a-secret')),
  )
  expect((await written(recorder))[0]).toMatchObject({ exchange: 'no plain read' })
  expect(readFileSync(path, 'utf8')).not.toContain('a-secret')
})

test('keys are masked, including those of a replaced config', async () => {
  const recorder = create()
  recorder.maskKeysOf(configWith('k7f3a9b2c4d6e8'))
  record(
    recorder,
    asking('k7f3a9b2c4d6e8', '/k7f3a9b2c4d6e8'),
    answered(Buffer.from([0xff, ...Buffer.from('k7f3a9b2c4d6e8')])),
  )
  recorder.maskKeysOf(configWith('q5w8x1y3z6t9r2'))
  record(recorder, asking('k7f3a9b2c4d6e8'), answered(Buffer.from('q5w8x1y3z6t9r2')))
  await recorder.close()
  const text = readFileSync(path, 'utf8')
  for (const hidden of ['k7f3a9b2c', 'q5w8x1y3z']) expect(text).not.toContain(hidden)
  expect(text).toContain('/**************')
})

test('it ends at its size limit, with one line in the log', async () => {
  const recorder = create({ maxBytes: 1_000 })
  for (let count = 0; count < 20; count++)
    record(recorder, asking('{}'), answered(Buffer.from('{}')))
  const lines = await written(recorder)
  expect(lines.length).toBeGreaterThan(2)
  expect(readFileSync(path).length).toBeLessThanOrEqual(1_000)
  expect(logged).toEqual(['recording: ended: the file has reached its size limit {"skipped":0}'])
})

test('calls are skipped and counted while the disk is too slow', async () => {
  const recorder = create()
  const body = Buffer.alloc(60 * 1024, 'a')
  for (let count = 0; count < 200; count++) record(recorder, asking('{}'), answered(body))
  const lines = await written(recorder)
  const skipped = 200 - lines.length
  expect(skipped).toBeGreaterThan(20)
  expect(logged).toEqual([
    'recording: the disk is slower than the traffic: calls are skipped {"skipped":1}',
    `recording: ended {"skipped":${skipped}}`,
  ])
})

test('a full disk ends the recording, and no call', async () => {
  const recorder = create({}, openSync('/dev/full', 'w'))
  record(recorder, asking('{}'), answered(Buffer.from('{}')))
  await expect.poll(() => logged).toHaveLength(1)
  record(recorder, asking('{}'), answered(Buffer.from('{}')))
  await recorder.close()
  expect(logged).toEqual([
    expect.stringMatching(/^recording: ended: the file cannot be written .*ENOSPC/),
  ])
})

test('an existing file is not touched', async () => {
  await create().close()
  const before = readFileSync(path)
  expect(() => create()).toThrow('EEXIST')
  expect(readFileSync(path)).toEqual(before)
})
