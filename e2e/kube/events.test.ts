// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import { events } from '../../operator/kube/event-recorder.ts'
import { EventRecorder } from '../../operator/kube/event-recorder.ts'
import { configMaps } from '../../operator/resources/kinds.ts'
import { eventually } from '../processes/eventually.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, signal } = useNamespace()

test('the API server accepts an event and its series', async () => {
  const metadata = { namespace, name: 'subject' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
  const regarding = await client.create(configMaps, object, signal)
  let jumpMs = 0
  const recorder = new EventRecorder({
    client,
    reportingController: 'rpcrouter.dev/operator',
    reportingInstance: 'operator-0',
    fieldManager: 'operator',
    // Timers fire at once, because a series has a minute between two writes.
    clock: {
      ...systemClock,
      wallMs: () => Date.now() + jumpMs,
      after: (delayMs, run) => systemClock.after(Math.min(delayMs, 50), run),
    },
    random: seededRandom(1),
  })
  const stop = new AbortController()
  const running = recorder.run(stop.signal)
  const occurrence = {
    type: 'Warning',
    reason: 'SecretNotFound',
    action: 'Render',
    note: 'x'.repeat(5_000),
    regarding,
    related: regarding,
  } as const
  recorder.record(occurrence)
  const list = async () => (await client.list(events, { namespace }, signal)).items
  await eventually(async () => (await list()).length === 1)
  jumpMs = 1_000
  recorder.record(occurrence)
  recorder.record(occurrence)
  const event = await eventually(async () => (await list()).find(({ series }) => series) ?? false)
  expect(event).toMatchObject({
    type: 'Warning',
    reason: 'SecretNotFound',
    action: 'Render',
    regarding: { kind: 'ConfigMap', name: 'subject', uid: regarding.metadata.uid },
    reportingController: 'rpcrouter.dev/operator',
    series: { count: 3 },
  })
  expect(Buffer.byteLength(event.note)).toBe(1024)
  expect(Date.parse(event.series!.lastObservedTime)).toBeGreaterThan(Date.parse(event.eventTime))
  stop.abort()
  await running
})
