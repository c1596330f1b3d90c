// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { ApiError, ConnectionError } from './errors.ts'
import type { KubeEvent } from './event-recorder.ts'
import { EventRecorder, type Occurrence } from './event-recorder.ts'
import type { KubeObject } from './object.ts'

const regarding: KubeObject = {
  apiVersion: 'rpcrouter.dev/v1alpha1',
  kind: 'RpcRouter',
  metadata: { namespace: 'ns', name: 'mainnet', uid: 'u1' },
}
const missing: Occurrence = {
  type: 'Warning',
  reason: 'SecretNotFound',
  action: 'Render',
  note: 'Secret "keys" is missing',
  regarding,
}

function recorderOf() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const stored = new Map<string, KubeEvent>()
  const writes: string[] = []
  const dropped: unknown[] = []
  const trouble = { error: null as Error | null, losesAnswers: false }
  const client = {
    apply: (_: unknown, event: KubeEvent) => {
      writes.push('apply')
      if (trouble.error) return Promise.reject(trouble.error)
      stored.set(event.metadata.name, event)
      return trouble.losesAnswers
        ? Promise.reject(new ConnectionError('cut before the answer'))
        : Promise.resolve(event)
    },
  }
  const recorder = new EventRecorder({
    client: client as never,
    reportingController: 'rpcrouter.dev/operator',
    reportingInstance: 'operator-0',
    fieldManager: 'operator',
    clock,
    random: seededRandom(1),
    observer: { eventDropped: (reason, why) => dropped.push([reason, why]) },
  })
  const stop = new AbortController()
  void recorder.run(stop.signal)
  const events = () => [...stored.values()]
  return { clock, recorder, events, stored, writes, dropped, trouble }
}

test('an Event has the form of events.k8s.io/v1', async () => {
  const { clock, recorder, events } = recorderOf()
  recorder.record(missing)
  await clock.advance(10)
  expect(events()).toEqual([
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'ns', name: expect.stringMatching(/^mainnet\.[0-9a-f]+$/) },
      eventTime: '2026-01-01T00:00:00.000000Z',
      type: 'Warning',
      reason: 'SecretNotFound',
      action: 'Render',
      note: 'Secret "keys" is missing',
      regarding: {
        apiVersion: 'rpcrouter.dev/v1alpha1',
        kind: 'RpcRouter',
        namespace: 'ns',
        name: 'mainnet',
        uid: 'u1',
      },
      reportingController: 'rpcrouter.dev/operator',
      reportingInstance: 'operator-0',
    },
  ])
})

describe('a repeated occurrence', () => {
  test('is one Event with a count, written once a minute', async () => {
    const { clock, recorder, events, writes } = recorderOf()
    for (let each = 0; each < 50; each++) {
      recorder.record(missing)
      await clock.advance(1_000)
    }
    expect(writes).toEqual(['apply'])
    await clock.advance(60_000)
    expect(writes).toEqual(['apply', 'apply'])
    expect(events()).toHaveLength(1)
    expect(events()[0]?.series).toEqual({
      count: 50,
      lastObservedTime: '2026-01-01T00:00:49.000000Z',
    })
  })

  test('with a different note or object is another Event', async () => {
    const { clock, recorder, events } = recorderOf()
    recorder.record(missing)
    recorder.record({ ...missing, note: 'Secret "other" is missing' })
    recorder.record({
      ...missing,
      regarding: { ...regarding, metadata: { ...regarding.metadata, uid: 'u2' } },
    })
    await clock.advance(10)
    expect(events()).toHaveLength(3)
  })

  test('is a new Event after six quiet minutes', async () => {
    const { clock, recorder, events } = recorderOf()
    recorder.record(missing)
    await clock.advance(361_000)
    recorder.record(missing)
    await clock.advance(10)
    expect(events().map(({ series }) => series)).toEqual([undefined, undefined])
  })

  test('is written again when the API server has dropped the Event', async () => {
    const { clock, recorder, events, stored, writes } = recorderOf()
    recorder.record(missing)
    await clock.advance(10)
    stored.clear()
    recorder.record(missing)
    await clock.advance(61_000)
    expect(writes).toEqual(['apply', 'apply'])
    expect(events()[0]?.series?.count).toBe(2)
  })
})

describe('limits', () => {
  test('one object gets at most 25 Events an hour; others are unaffected', async () => {
    const { clock, recorder, events, dropped } = recorderOf()
    const other = { ...regarding, metadata: { ...regarding.metadata, uid: 'u2' } }
    for (let each = 0; each < 30; each++) recorder.record({ ...missing, note: `note ${each}` })
    recorder.record({ ...missing, regarding: other })
    await clock.advance(10)
    expect(events()).toHaveLength(26)
    expect(dropped).toEqual(Array.from({ length: 5 }, () => ['SecretNotFound', 'rate']))
    await clock.advance(3_600_000)
    recorder.record({ ...missing, note: 'later' })
    await clock.advance(10)
    expect(events()).toHaveLength(27)
  })

  test('a long note is cut at a whole character', async () => {
    const { clock, recorder, events } = recorderOf()
    recorder.record({ ...missing, note: 'ä'.repeat(2_000) })
    await clock.advance(10)
    const note = events()[0]?.note ?? ''
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024)
    expect(note).toMatch(/^ä+\.\.\.$/)
  })
})

describe('an API server that refuses an Event', () => {
  test('gets it again, and nothing is counted twice', async () => {
    const { clock, recorder, events, trouble, writes } = recorderOf()
    trouble.error = new ConnectionError('cut')
    recorder.record(missing)
    recorder.record(missing)
    await clock.advance(20)
    trouble.error = null
    await clock.advance(1_000)
    expect(writes.length).toBeGreaterThan(2)
    expect(events().map(({ series }) => series?.count)).toEqual([2])
  })

  test('or whose answer is lost stores it once', async () => {
    const { clock, recorder, events, trouble, dropped } = recorderOf()
    trouble.losesAnswers = true
    recorder.record(missing)
    await clock.advance(2)
    trouble.losesAnswers = false
    recorder.record(missing)
    await clock.advance(61_000)
    expect(events().map(({ series }) => series?.count)).toEqual([2])
    expect(dropped).toEqual([])
  })

  test('for good: the Event is dropped after some attempts, and the drop is reported', async () => {
    const { clock, recorder, trouble, writes, dropped } = recorderOf()
    trouble.error = new ApiError('POST', 403, { reason: 'Forbidden' })
    recorder.record(missing)
    await clock.advance(3_600_000)
    expect(writes).toHaveLength(6)
    expect(dropped).toEqual([['SecretNotFound', 'error']])
    expect(clock.pending).toBe(0)
  })
})
