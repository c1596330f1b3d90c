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
import { eventually } from './eventually.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, folder, signal } = useNamespace()
const lease = { namespace, name: 'lead' }
const program = join(import.meta.dirname, 'elector-process.ts')

let children: ChildProcess[] = []
let stop = new AbortController()
/** Who wrote, in the order in which the API server took it. */
let writers: string[] = []
/** Hears of each write as it comes. */
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

/** Waits until this one has written, and then some more. */
const hasWritten = (identity: string) =>
  eventually(() => writers.filter((each) => each === identity).length > 20)

/** The writers without repetition: with one leader at a time, each stands once. */
const terms = () => writers.filter((each, at) => each !== writers[at - 1])

test('of two, one writes; when it is told to go, the other follows at once', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const b = candidate('b')
  await eventually(async () => (await holder()) === 'a')
  a.child.kill('SIGTERM')
  const goneMs = performance.now()
  expect(await a.ended).toBe(0)
  await hasWritten('b')
  // It was given the lease; it did not wait until that of the first ran out.
  expect(performance.now() - goneMs).toBeLessThan(5_000)
  expect(terms()).toEqual(['a', 'b'])
  b.child.kill('SIGTERM')
  expect(await b.ended).toBe(0)
  expect(await holder()).toBe('')
})

test('one that is stopped dead and wakes up when another leads ends, and writes no more', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const b = candidate('b')
  // Between two writes: what is on its way to the socket already, nobody can call back.
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

test('one that is killed is followed when its lease has run out', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const b = candidate('b')
  a.child.kill('SIGKILL')
  await hasWritten('b')
  expect(terms()).toEqual(['a', 'b'])
  b.child.kill('SIGTERM')
  await b.ended
})

test('a lease that somebody stole ends the leader, and belongs to the thief', async () => {
  const a = candidate('a')
  await hasWritten('a')
  const stolen = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 3600 } }
  await client.mergePatch(leases, lease, stolen, signal)
  expect(await a.ended).toBe(3)
  expect(await holder()).toBe('thief')
})
