// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { StatusWriter } from '../../operator/apply/status-writer.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import type { Occurrence } from '../../operator/kube/event-recorder.ts'
import { apiVersionOf, type KubeObject } from '../../operator/kube/object.ts'
import { Store } from '../../operator/kube/store.ts'
import { createDefinition } from './custom-kind.ts'
import { kind } from './resources.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, signal } = useNamespace()

test('a status with fields that the CRD lacks is written without them, and an event says so', async () => {
  const things = kind(`${namespace}.test.rpcrouter.dev`, 'Thing', 'things')
  const name = { type: 'string' }
  const summary = { type: 'object', properties: { ready: { type: 'integer' } } }
  const listeners = {
    type: 'array',
    items: { type: 'object', required: ['name'], properties: { name } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  }
  const schema = { type: 'object', properties: { summary, listeners } }
  await createDefinition(client, things, signal, schema)
  const own = {
    apiVersion: apiVersionOf(things),
    kind: 'Thing',
    metadata: { namespace, name: 't' },
  }
  const object = await client.create<KubeObject>(things, own, signal)

  const noted: Occurrence[] = []
  const events = { record: (each: Occurrence) => noted.push(each) }
  const writer = new StatusWriter(client, things, new Store(), systemClock, events)
  const status = {
    summary: { ready: 1, serving: 2 },
    listeners: [{ name: 'a.b', why: 'new' }, { name: 'c' }],
    since: 'now',
  }
  expect(await writer.write(object, status, signal)).toBe(true)
  const found = await client.get(things, { namespace, name: 't' }, signal)
  const known = { summary: { ready: 1 }, listeners: [{ name: 'a.b' }, { name: 'c' }] }
  expect(found).toMatchObject({ status: known })
  const { uid } = object.metadata
  const warning = { type: 'Warning', reason: 'CrdsOutdated', regarding: { metadata: { uid } } }
  for (const each of noted) expect(each).toMatchObject(warning)
  const notes = noted.map(({ note }) => note).join('\n')
  for (const field of [
    '.status.listeners[name="a.b"].why',
    '.status.since',
    '.status.summary.serving',
  ])
    expect(notes).toContain(`${field}: field not declared in schema`)
  expect(notes).toContain('older than this operator: apply crds/ of its version')

  // Without a change, the version stays, so the operator is not woken again.
  expect(await writer.write(found, status, signal)).toBe(false)
  const again = await client.get(things, { namespace, name: 't' }, signal)
  expect(again.metadata.resourceVersion).toBe(found.metadata.resourceVersion)
})
