// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { ListenerObserver } from '../listener/listener.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { aCall, aFailure, anAttempt, aRecord, repliedBy } from './call.fixture.ts'
import { createEventLog } from './event-log.ts'
import { createLogger } from './log.ts'
import type { LogLevel } from '../config/types.ts'

function make(level: LogLevel = 'info') {
  const clock = new VirtualClock()
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line.replace(/^\S+ /, '')) }
  const logger = createLogger({ level, format: 'text', redact: (text) => text, destination })
  const log = createEventLog({ logger, clock })
  return {
    clock,
    log,
    lines,
    listener: log.listenerObserver('ETH1', 'jsonrpc'),
    pool: log.poolObserver('ETH1', 'jsonrpc'),
    relay: log.relayObserver('ETH1', 'jsonrpc'),
  }
}

const on = 'ETH1/jsonrpc'

function fail(listener: Pick<ListenerObserver, 'callEnded' | 'requestRefused'>, times = 1): void {
  const error = new RelayError(errorKinds.noUpstream, 'no upstream')
  for (let at = 0; at < times; at += 1) listener.callEnded(aCall(), { kind: 'error', error }, 1)
}

test.each([
  ['0.0.0.0', '0.0.0.0:3360'],
  ['::1', '"[::1]:3360"'],
])('a started listener on %s is one line', (host, shown) => {
  const { log, lines } = make()
  log.listenerStarted('ETH1', 'jsonrpc', { host, port: 3360 })
  expect(lines).toEqual([`INFO  ${on}: listener started address=${shown}\n`])
})

test('a failed request is logged in one line', () => {
  const { listener, lines } = make()
  const call = aCall({ guid: 'g-1', method: 'eth_getLogs' })
  anAttempt(call, 'node-a', aFailure('refused'), { tookMs: 1.6, detail: 'connect ECONNREFUSED' })
  anAttempt(call, 'node-b', aFailure('timeout'), { kind: 'retry', tookMs: 1_000 })
  call.journal.begin('node-c', 'hedge', 1)
  const error = new RelayError(errorKinds.upstreamFailed, 'every attempt failed')
  listener.callEnded(call, { kind: 'error', error }, 1_002.4)
  expect(lines).toEqual([
    `WARN  ${on}: request failed guid=g-1 method=eth_getLogs outcome=upstream-failed durationMs=1002 ` +
      'attempts="node-a first refused 2ms (connect ECONNREFUSED); node-b retry timeout 1000ms; node-c hedge running" ' +
      'error="every attempt failed (RPC_UPSTREAM_FAILED)"\n',
  ])
})

test('an upstream error that reached the client is a failed request', () => {
  const { listener, lines } = make()
  const call = aCall()
  anAttempt(call, 'node-a', aFailure('server-error'))
  listener.callEnded(call, repliedBy('node-a'), 5)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(`WARN  ${on}: request failed`)
  expect(lines[0]).toContain('outcome=upstream-error')
})

test('an internal error is logged as an error, with its stack', () => {
  const { listener, lines } = make()
  const error = new RelayError(errorKinds.internal, 'defect', { cause: new TypeError('x is null') })
  listener.callEnded(aCall(), { kind: 'error', error }, 5)
  expect(lines[0]).toContain(`ERROR ${on}: request failed`)
  expect(lines[0]).toMatch(
    /error="defect \(RPC_INTERNAL\), caused by: x is null \(TypeError\)" stack=\["at .* stack=\["at /,
  )
})

const calm: [
  string,
  (listener: Pick<ListenerObserver, 'callEnded' | 'requestRefused'>) => void,
  number,
][] = [
  ['a success', (listener) => listener.callEnded(aCall(), repliedBy('node-a'), 1), 1],
  ['a client that left', (listener) => listener.callEnded(aCall(), { kind: 'abandoned' }, 1), 1],
  [
    'an error that is the node’s own answer',
    (listener) => {
      const call = aCall()
      anAttempt(call, 'node-a', 'node-error')
      listener.callEnded(call, repliedBy('node-a', aFailure('execution-reverted')), 1)
    },
    1,
  ],
  [
    'a refused request',
    (listener) =>
      listener.requestRefused(new RelayError(errorKinds.parse, 'not JSON'), 'guid-1', null),
    1,
  ],
]
test.each(calm)('%s is not logged at info', (_name, happen, atDebug) => {
  const atInfo = make()
  happen(atInfo.listener)
  expect(atInfo.lines).toEqual([])
  const debug = make('debug')
  happen(debug.listener)
  expect(debug.lines).toHaveLength(atDebug)
})

test('a flood of failures is truncated, and the suppressed lines are counted', async () => {
  const { listener, lines, clock } = make()
  fail(listener, 1_000)
  expect(lines).toHaveLength(20)
  await clock.advance(1_000)
  expect(lines).toHaveLength(21)
  expect(lines[20]).toBe(`WARN  ${on}: failed requests suppressed suppressed=980\n`)
  fail(listener)
  expect(lines).toHaveLength(22)
  await clock.advance(60_000)
  expect(lines).toHaveLength(22)
  expect(clock.pending).toBe(0)
})

test('a method name from a client stays short and within its field', () => {
  const { listener, lines } = make()
  const call = aCall({ method: `eth\nERROR fake guid=1 ${'x'.repeat(1_000_000)}`, known: false })
  listener.callEnded(call, { kind: 'error', error: new RelayError(errorKinds.timeout, 'late') }, 1)
  expect(lines).toHaveLength(1)
  expect(lines[0]?.match(/\n/g)).toHaveLength(1)
  expect(lines[0]).toContain('method="eth\\nERROR fake guid=1 xxx')
  expect(lines[0]?.length).toBeLessThan(400)
})

test('many attempts are summarized', () => {
  const { listener, lines } = make()
  const call = aCall()
  for (let at = 0; at < 200; at += 1)
    anAttempt(call, 'node-a', aFailure('reset'), { detail: 'd'.repeat(10_000) })
  listener.callEnded(call, { kind: 'error', error: new RelayError(errorKinds.timeout, 'late') }, 1)
  expect(lines[0]?.length).toBeLessThan(2_000)
})

test('attempts are logged only when the client requests it', () => {
  const { relay, lines } = make()
  const silent = aCall()
  relay.attemptEnded(silent, anAttempt(silent, 'node-a', 'answer'))
  expect(lines).toEqual([])
  const call = aCall({ debugRelay: true, guid: 'g-2' })
  relay.attemptEnded(call, anAttempt(call, 'node-a', aFailure('timeout'), { tookMs: 999.7 }))
  relay.attemptEnded(call, anAttempt(call, 'node-b', 'answer', { kind: 'retry', detail: 'ok so' }))
  expect(lines).toEqual([
    `INFO  ${on} node-a: attempt ended guid=g-2 method=eth_call kind=first result=timeout durationMs=1000\n`,
    `INFO  ${on} node-b: attempt ended guid=g-2 method=eth_call kind=retry result=answer durationMs=10 detail="ok so"\n`,
  ])
})

test('a client that always requests attempt lines does not flood the log', async () => {
  const { relay, lines, clock } = make()
  const call = aCall({ debugRelay: true })
  const attempt = anAttempt(call, 'node-a', 'answer')
  for (let at = 0; at < 5_000; at += 1) relay.attemptEnded(call, attempt)
  expect(lines).toHaveLength(100)
  await clock.advance(1_000)
  expect(lines[100]).toContain('suppressed=4900')
})

test('changes of an upstream, its URLs and the breaker are logged, with the reason and the end', () => {
  const { pool, relay, lines } = make()
  pool.stateChanged('node-a', 'unverified', aRecord('eligible', 'verified'))
  pool.stateChanged(
    'node-a',
    'eligible',
    aRecord('disabled', '5 failures in a row', '2026-01-01T00:15:00.000Z'),
  )
  pool.stateChanged('node-b', 'unverified', aRecord('rejected', 'chain-id is 0x2'))
  pool.stateChanged('node-a', 'eligible', aRecord('lagging', '9 blocks behind the tip'))
  pool.cooldownBegan('node-a', 'https://a.example', 30_000, 'rate limited')
  const url = { position: 2, url: 'https://a.example', why: '2 failures in a row', since: null }
  pool.urlChanged?.('node-a', url, '1 of 2 URLs')
  pool.urlChanged?.('node-a', { ...url, why: null }, '2 of 2 URLs')
  pool.dayUsed?.('node-a', 'https://a.example', 'its limit of 20 requests a day is reached')
  pool.verificationFailed('node-b', 'https://b.example', 'chain-id', 'got 0x2, want 0x1')
  for (const depth of [1, 3]) pool.reorged?.({ depth, block: 100, usualDepth: 1 })
  relay.breakerChanged(true)
  relay.breakerChanged(false)
  expect(lines).toEqual([
    `INFO  ${on} node-a: upstream changed state from=unverified to=eligible why=verified\n`,
    `WARN  ${on} node-a: upstream changed state from=eligible to=disabled why="5 failures in a row" until="it answers a probe, at the latest 2026-01-01T00:15:00.000Z"\n`,
    `ERROR ${on} node-b: upstream changed state from=unverified to=rejected why="chain-id is 0x2" until="it passes verification, which is retried within 30 s"\n`,
    `INFO  ${on} node-a: upstream changed state from=eligible to=lagging why="9 blocks behind the tip" until="it has caught up; until then it gets no calls for the newest blocks"\n`,
    `WARN  ${on} node-a: upstream URL in cooldown url=https://a.example why="rate limited" cooldownMs=30000 until=2026-01-01T00:00:30.000Z\n`,
    `WARN  ${on} node-a: upstream URL does not serve position=2 url=https://a.example why="2 failures in a row" serving="1 of 2 URLs"\n`,
    `INFO  ${on} node-a: upstream URL serves again position=2 url=https://a.example serving="2 of 2 URLs"\n`,
    `WARN  ${on} node-a: upstream URL at its limit url=https://a.example why="its limit of 20 requests a day is reached"\n`,
    `WARN  ${on} node-b: verification failed url=https://b.example verification=chain-id why="got 0x2, want 0x1"\n`,
    `WARN  ${on}: reorg deeper than usual depth=3 block=100 usualDepth=1\n`,
    `WARN  ${on}: breaker opened: calls fail at once\n`,
    `INFO  ${on}: breaker closed: an upstream is available again\n`,
  ])
})

test('an upstream that flaps is logged periodically, with its last state', async () => {
  const { pool, lines, clock } = make()
  for (let at = 0; at < 50; at += 1) {
    pool.stateChanged('node-a', 'eligible', aRecord('disabled', 'x'))
    pool.stateChanged('node-a', 'disabled', aRecord('eligible', 'x'))
  }
  pool.stateChanged('node-b', 'eligible', aRecord('disabled', 'x'))
  expect(lines).toHaveLength(7)
  await clock.advance(60_000)
  expect(lines.slice(7)).toEqual([
    `WARN  ${on} node-a: state changes suppressed suppressed=94 now=eligible\n`,
  ])
})

test('a violation is logged with its detail, once a minute for each upstream and check', async () => {
  const { relay, lines, clock } = make()
  const violate = (upstream: string, check: 'block-number' | 'parent') => {
    const call = aCall({ guid: 'g-1', method: 'eth_getBlockByNumber' })
    const violation = { check, detail: 'asked for 16, got 17' }
    relay.attemptEnded(
      call,
      anAttempt(call, upstream, aFailure('integrity-violated'), { violation }),
    )
  }
  for (let each = 0; each < 5; each++) violate('node-a', 'block-number')
  violate('node-b', 'block-number')
  violate('node-a', 'parent')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toBe(
    `WARN  ${on} node-a: answer does not match its request check=block-number guid=g-1 ` +
      'method=eth_getBlockByNumber detail="asked for 16, got 17"\n',
  )
  expect(lines[2]).toContain('check=parent')
  await clock.advance(60_000)
  expect(lines[3]).toContain('violations suppressed')
  expect(lines[3]).toContain('suppressed=4')
  violate('node-a', 'block-number')
  expect(lines).toHaveLength(5)
})
