// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import type { KubeObject } from '../kube/object.ts'
import { Store } from '../kube/store.ts'
import { rpcRouters } from '../resources/kinds.ts'
import { StatusWriter } from './status-writer.ts'

type WithStatus = KubeObject & { readonly status?: { readonly word: string } }

const { signal } = new AbortController()
const metadata = { namespace: 'ns', name: 'r', uid: 'uid-of-r', resourceVersion: '1' }
const object: WithStatus = { apiVersion: 'rpcrouter.dev/v1alpha1', kind: 'RpcRouter', metadata }
const written: WithStatus = {
  ...object,
  metadata: { ...metadata, resourceVersion: '2' },
  status: { word: 'ours' },
}

const silent = { record: () => {} }

test('a written status counts until the watch delivers it', async () => {
  let times = 0
  const client = { apply: () => Promise.resolve((times++, written) as never) }
  const writer = new StatusWriter(client, rpcRouters, new Store(), new VirtualClock(), silent)
  expect(await writer.write(object, { word: 'ours' }, signal)).toBe(true)
  expect(writer.latest(object)).toMatchObject({ status: { word: 'ours' } })
  expect(await writer.write(object, { word: 'ours' }, signal)).toBe(false)
  const watched = { ...written, metadata: { ...written.metadata, resourceVersion: '3' } }
  expect(writer.latest(watched)).toBe(watched)
  expect(times).toBe(1)
})
