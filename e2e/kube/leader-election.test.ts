// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../operator/kube/clock.ts'
import { leases } from '../../operator/kube/leader-elector.ts'
import { Reflector } from '../../operator/kube/reflector.ts'
import { Store } from '../../operator/kube/store.ts'
import { type ConfigMap, configMaps } from '../../operator/resources/kinds.ts'
import { eventually } from '../processes/eventually.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, folder, signal } = useNamespace()
const lease = { namespace, name: 'lead' }
const program = join(import.meta.dirname, 'elector-process.ts')

let children: ChildProcess[] = []
let stop = new AbortController()
/** The writers, in the order of the API server. */
let writers: string[] = []
/** Called at each write. */
let onWrite: () => void
let watching: Promise<void>

beforeEach(async () => {
  const metadata = { namespace, name: 'writer' }
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, signal)
  stop = new AbortController()
  writers = []
  onWrite = () => {}
  const store = new Store<ConfigMap>()
  store.subscribe(({ object }) => {
    const writer = object.data?.['writer']
    if (!writer) return
    writers.push(writer)
    onWrite()
  })
  watching = new Reflector({
    client,
    resource: configMaps,
    store,
    clock: systemClock,
    random: systemRandom,
    selection: { namespace, fieldSelector: 'metadata.name=writer' },
  }).run(stop.signal)
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  stop.abort()
  await watching
  await client.delete(configMaps, { namespace, name: 'writer' }, signal)
  await client.delete(leases, lease, signal)
})

/** Starts a candidate. `ended` is its exit code. */
function candidate(identity: string) {
  const args = [program, join(folder, 'cluster.json'), namespace, identity]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  children.push(child)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, ended }
}

const holder = async () => (await client.get(leases, lease, signal)).spec?.holderIdentity

/** Waits for several writes of a candidate. */
const hasWritten = (identity: string) =>
  eventually(() => writers.filter((each) => each === identity).length > 20)

/** The writers without repetitions: with one leader at a time, each appears once. */
const terms = () => writers.filter((each, at) => each !== writers[at - 1])

test('of two candidates one writes; after SIGTERM to it, the other follows at once', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const b = candidate('b')
  await eventually(async () => (await holder()) === 'a')
  a.child.kill('SIGTERM')
  const goneMs = performance.now()
  expect(await a.ended).toBe(0)
  await hasWritten('b')
  // It got the released lease; it did not wait for its expiry.
  expect(performance.now() - goneMs).toBeLessThan(5_000)
  expect(terms()).toEqual(['a', 'b'])
  b.child.kill('SIGTERM')
  expect(await b.ended).toBe(0)
  expect(await holder()).toBe('')
})

test('a leader that is suspended until another leads ends, and writes no more', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const b = candidate('b')
  // Between two writes: a request on its way cannot be cancelled.
  await new Promise<void>((resolve) => {
    onWrite = () => {
      onWrite = () => {}
      a.child.kill('SIGSTOP')
      resolve()
    }
  })
  await hasWritten('b')
  a.child.kill('SIGCONT')
  expect(await a.ended).toBe(3)
  const written = writers.length
  await eventually(() => writers.length > written + 20)
  expect(new Set(writers.slice(written))).toEqual(new Set(['b']))
  b.child.kill('SIGTERM')
  await b.ended
})

test('after a leader is killed, another follows when the lease has expired', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const b = candidate('b')
  a.child.kill('SIGKILL')
  await hasWritten('b')
  expect(terms()).toEqual(['a', 'b'])
  b.child.kill('SIGTERM')
  await b.ended
})

test('a stolen lease ends the leader, and stays with the new holder', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const stolen = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 3600 } }
  await client.mergePatch(leases, lease, stolen, signal)
  expect(await a.ended).toBe(3)
  expect(await holder()).toBe('thief')
})
