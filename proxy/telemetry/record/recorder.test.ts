// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
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
import { Recorder } from './recorder.ts'

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
  more: { maxBytes?: number; withParams?: boolean; clock?: VirtualClock } = {},
  fd?: number,
) {
  const warn = (message: string, fields = {}) =>
    logged.push(`${message} ${JSON.stringify({ ...fields, file: undefined })}`)
  const options = { path, maxBytes: 1e9, withParams: true, version: '1.2.3' }
  const clock = new VirtualClock()
  return new Recorder({ ...options, clock, logger: { warn }, ...more }, fd)
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
  const [head, call] = await written(recorder)
  expect(head).toMatchObject({ recording: 1, router: '1.2.3' })
  expect(call).toEqual({
    ...{
      at: expect.any(String) as string,
      chain: 'ETH1',
      interface: 'jsonrpc',
      method: 'eth_call',
    },
    ...{ outcome: 'success', refusal: null, upstream: 'a', totalMs: 12.35, leftOut: null },
    request: { verb: 'POST', path: '/C/rpc', body: { text: '{"method":"é"}' } },
    answer: { text: '{}' },
  })
  expect(readFileSync(path, 'utf8')).not.toContain('a-secret')
})

test.each<[string, Body, unknown]>([
  ['bytes that are no text', Buffer.from([0xff, 0]), { base64: '/wA=' }],
  ['a body over 1 MiB', Buffer.alloc(1024 * 1024 + 1), { bytes: 1024 * 1024 + 1 }],
  ['a stream', { async *[Symbol.asyncIterator]() {} }, { bytes: null }],
])('%s', async (_, body, recorded) => {
  const recorder = create()
  record(recorder, asking('{}'), answered(body))
  expect((await written(recorder))[1]).toMatchObject({ answer: recorded })
})

test('what got no answer, and what comes without params', async () => {
  const recorder = create({ withParams: false })
  const error = new RelayError(errorKinds.timeout, 'too late: a-secret')
  record(recorder, asking('a-secret'), { kind: 'error', error })
  record(recorder, asking('a-secret'), answered(Buffer.from('a-secret'), 'execution-reverted'))
  const [, failed, refused] = await written(recorder)
  expect(failed).toMatchObject({ outcome: 'timeout', upstream: null, request: null, answer: null })
  expect(refused).toMatchObject({ refusal: 'execution-reverted', request: null, answer: null })
  expect(readFileSync(path, 'utf8')).not.toContain('a-secret')
})

test('keys are masked, also those of a config that was just replaced', async () => {
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
  for (const hidden of [
    'k7f3a9b2c',
    'q5w8x1y3z',
    Buffer.from('k7f3a9b2c').toString('base64').slice(2, 10),
  ])
    expect(text).not.toContain(hidden)
  expect(text).toContain('/**************')
})

test('it ends at its bound, with one line in the log', async () => {
  const recorder = create({ maxBytes: 1_000 })
  for (let count = 0; count < 20; count++)
    record(recorder, asking('{}'), answered(Buffer.from('{}')))
  const lines = await written(recorder)
  expect(lines.length).toBeGreaterThan(2)
  expect(readFileSync(path).length).toBeLessThanOrEqual(1_000)
  expect(logged).toEqual(['recording: ended: it has the size that it may have {"leftOut":0}'])
})

test('what the disk does not take in time is left out and counted', async () => {
  const recorder = create()
  const body = Buffer.alloc(60 * 1024, 'a')
  for (let count = 0; count < 200; count++) record(recorder, asking('{}'), answered(body))
  const lines = await written(recorder)
  const leftOut = 201 - lines.length
  expect(leftOut).toBeGreaterThan(20)
  expect(logged).toEqual([
    'recording: the disk is slower than the traffic: calls are left out {"leftOut":1}',
    `recording: ended {"leftOut":${leftOut}}`,
  ])
})

test('a disk that is full ends it, and no call', async () => {
  const recorder = create({}, openSync('/dev/full', 'w'))
  record(recorder, asking('{}'), answered(Buffer.from('{}')))
  await expect.poll(() => logged).toHaveLength(1)
  record(recorder, asking('{}'), answered(Buffer.from('{}')))
  await recorder.close()
  expect(logged).toEqual([
    expect.stringMatching(/^recording: ended: the file cannot be written .*ENOSPC/),
  ])
})

test('a disk that hangs holds up the end for 2 s, and no longer', async () => {
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  const clock = new VirtualClock()
  const recorder = create({ clock }, openSync(pipe, constants.O_RDWR))
  record(recorder, asking('{}'), answered(Buffer.alloc(256 * 1024, 'a')))
  let isOver = false
  const closed = recorder.close().then(() => (isOver = true))
  await clock.advance(1_999)
  expect(isOver).toBe(false)
  await clock.advance(1)
  await closed
  expect(logged).toEqual([
    'recording: ended: the disk hangs, and the last calls are lost {"leftOut":0}',
  ])
  // The write that hangs would hold up the end of this process too.
  const reading = openSync(pipe, constants.O_RDONLY)
  for (let left = 256 * 1024; left > 0;) left -= readSync(reading, Buffer.alloc(left))
})

test('a file that exists is not touched', async () => {
  await create().close()
  const before = readFileSync(path)
  expect(() => create()).toThrow('EEXIST')
  expect(readFileSync(path)).toEqual(before)
})
