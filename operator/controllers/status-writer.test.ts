// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
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

/** A writer of statuses of routers. @param meanwhile what happens before an answer comes */
function writerOn(store: Store<KubeObject>, meanwhile: (writer: StatusWriter<object>) => void) {
  const writer: StatusWriter<object> = new StatusWriter<object>(
    {
      applyStatus: <T extends KubeObject>() => {
        meanwhile(writer)
        return Promise.resolve(written as KubeObject as T)
      },
    },
    rpcRouters,
    store,
  )
  return writer
}

test('a status is known as written until the watch brings it', async () => {
  const store = new Store<KubeObject>()
  store.set(object)
  const writer = writerOn(store, () => {})
  expect(await writer.write(object, { word: 'ours' }, signal)).toBe(true)
  expect(writer.latest(object)).toMatchObject({ status: { word: 'ours' } })
  expect(await writer.write(object, { word: 'ours' }, signal)).toBe(false)
})

test('nothing is kept of an object that went before the answer came', async () => {
  const store = new Store<KubeObject>()
  store.set(object)
  const writer = writerOn(store, (self) => {
    store.delete(object)
    self.forget('uid-of-r')
  })
  await writer.write(object, { word: 'ours' }, signal)
  expect(writer.latest(object)).toBe(object)
})
