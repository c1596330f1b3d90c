// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { systemClock } from '../../operator/kube/clock.ts'
import { listAll } from '../../operator/kube/reflector.ts'
import { Reflector, type ReflectorOptions } from '../../operator/kube/reflector.ts'
import { apiVersionOf } from '../../operator/kube/object.ts'
import { Store } from '../../operator/kube/store.ts'
import { type ConfigMap, configMaps } from '../../operator/resources/kinds.ts'
import { ChaosProxy } from './chaos/proxy.ts'
import { noFaults } from './chaos/faults.ts'
import type { WatchFault } from './chaos/watch.ts'
import { runSchedule } from './chaos/schedule.ts'
import { clientOf, type Access } from './access.ts'
import { createKind } from './custom-kind.ts'
import { eventually } from '../processes/eventually.ts'
import { useNamespace } from './test-namespace.ts'

const { namespace, client, access, signal } = useNamespace()

/** Selects the objects of one suite, without objects of controllers and other tests. */
const selectionOf = (suite: string) => ({ namespace, labelSelector: `suite=${suite}` })
const selection = selectionOf('single')
const impatient = { firstMs: 5, maxMs: 100 }

function configMap(name: string, value: string, suite: string): ConfigMap {
  const metadata = { namespace, name, labels: { suite } }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } }
}

/** A reflector and the changes of its store. */
function reflect(through: Access, options: Partial<ReflectorOptions<ConfigMap>> = {}) {
  const store = new Store<ConfigMap>()
  const changes: string[] = []
  const failures: string[] = []
  store.subscribe(({ type, object }) => changes.push(`${type} ${object.metadata.name}`))
  const own = clientOf(through)
  const reflector = new Reflector({
    client: own,
    resource: configMaps,
    store,
    clock: systemClock,
    random: seededRandom(1),
    selection,
    backoff: impatient,
    observer: { reflectFailed: (_, verb, error) => failures.push(`${verb} ${error.message}`) },
    ...options,
  })
  const stop = new AbortController()
  const running = reflector.run(stop.signal)
  const end = async () => {
    stop.abort()
    await running
    await own.close()
  }
  return { store, changes, failures, reflector, end, [Symbol.asyncDispose]: end }
}

/** Expects the store to equal the API server's list. */
async function expectEqual(store: Store<ConfigMap>, of = selection): Promise<void> {
  const { items } = await listAll(client, configMaps, of, signal)
  const byName = (all: readonly ConfigMap[]) =>
    Object.fromEntries(all.map((each) => [each.metadata.name, each]))
  expect(byName(store.list())).toEqual(byName(items))
}

async function put(name: string, value: string, suite = 'single'): Promise<void> {
  const options = { fieldManager: 'test', force: true }
  await client.apply(configMaps, configMap(name, value, suite), options, signal)
}

async function remove(name: string): Promise<void> {
  await client.delete(configMaps, { namespace, name }, signal)
}

test('the store has existing objects, additions, changes and deletions', async () => {
  await put('there', '1')
  const beganMs = performance.now()
  await using run = reflect(access)
  await run.reflector.synced
  expect(run.changes).toEqual(['added there'])
  expect(run.reflector.silentMs).toBeLessThan(performance.now() - beganMs)
  await put('there', '2')
  await put('new', '1')
  await remove('there')
  await eventually(() => run.changes.length === 4)
  expect(run.changes).toEqual(['added there', 'updated there', 'added new', 'deleted there'])
  await expectEqual(run.store)
  await remove('new')
})

test('a delete and recreate while disconnected is a deletion and an addition', async () => {
  await put('reborn', '1')
  await using proxy = await ChaosProxy.start(access, noFaults)
  await using run = reflect(proxy.access)
  await run.reflector.synced
  const refuseAll = { answer: () => ({ do: 'cut-before' }) as const, watch: () => null }
  proxy.disturb(refuseAll)
  proxy.cutAll()
  await remove('reborn')
  await put('reborn', '1')
  await eventually(() => run.failures.length > 2)
  proxy.disturb(noFaults)
  await eventually(() => run.changes.length === 3)
  expect(run.changes).toEqual(['added reborn', 'deleted reborn', 'added reborn'])
  await expectEqual(run.store)
  await remove('reborn')
})

test('the next list removes an object that was deleted during an outage of the watch', async () => {
  await put('kept', '1')
  await put('gone', '1')
  await using proxy = await ChaosProxy.start(access, noFaults)
  await using run = reflect(proxy.access)
  await run.reflector.synced
  proxy.disturb({
    answer: (kind) =>
      kind === 'watch' ? { do: 'refuse', status: 410, reason: 'Expired' } : { do: 'cut-before' },
    watch: () => null,
  })
  proxy.cutAll()
  await remove('gone')
  await eventually(() => run.failures.some((each) => each.startsWith('list')))
  proxy.disturb(noFaults)
  await eventually(() => run.changes.length === 3)
  expect(run.changes.slice(2)).toEqual(['deleted gone'])
  await remove('kept')
})

test('an expired version leads to a relist on a real server', async () => {
  // The server has no history for a kind that is newer than the requested version.
  const resource = await createKind(client, namespace, signal)
  const store = new Store()
  const failures: string[] = []
  const stop = new AbortController()
  let lists = 0
  const reflector = new Reflector({
    client: {
      list: async (...args) => {
        lists += 1
        const list = await client.list(...args)
        return lists === 1 ? { ...list, resourceVersion: '1' } : list
      },
      watch: (...args) => client.watch(...args),
    },
    resource,
    store,
    clock: systemClock,
    random: seededRandom(1),
    selection: { namespace },
    backoff: impatient,
    observer: { reflectFailed: (_, verb, error) => failures.push(`${verb} ${error.message}`) },
  })
  const running = reflector.run(stop.signal)
  await eventually(() => lists === 2)
  expect(failures).toEqual([expect.stringContaining('Expired: too old resource version: 1 (')])
  const { apiVersion, kind } = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  await client.create(resource, { apiVersion, kind, metadata: { namespace, name: 'a' } }, signal)
  await eventually(() => store.list().length === 1)
  stop.abort()
  await running
})

test('a bookmark for an older version does not repeat history', async () => {
  await put('present', '1')
  const faults: WatchFault[] = [{ do: 'stale-bookmark', afterEvents: 3, afterMs: 60_000 }]
  await using proxy = await ChaosProxy.start(access, {
    answer: () => null,
    watch: () => faults.shift() ?? null,
  })
  await using run = reflect(proxy.access)
  await run.reflector.synced
  await put('passing', '1')
  await remove('passing')
  await put('present', '2')
  await eventually(() => run.failures.length === 1)
  await put('present', '3')
  await eventually(() => run.changes.at(-1) === 'updated present' && run.changes.length >= 5)
  expect(run.changes).toEqual([
    'added present',
    'added passing',
    'deleted passing',
    'updated present',
    'updated present',
  ])
  await remove('present')
})

test('a watch that is silent for too long is reopened', async () => {
  await using proxy = await ChaosProxy.start(access, {
    answer: () => null,
    watch: () => ({ do: 'silence', afterEvents: 100, afterMs: 0 }),
  })
  await using run = reflect(proxy.access, { silenceMs: 300 })
  await eventually(() => proxy.tally.has('watch silence'))
  await pause(50)
  await put('unseen', '1')
  await eventually(() => run.store.list().length === 1)
  expect(run.failures[0]).toMatch(/^watch .*nothing came for 0.3 s$/)
  await remove('unseen')
})

test('a stop ends an in-flight list, and opens no watch', async () => {
  const kinds: string[] = []
  await using proxy = await ChaosProxy.start(access, {
    answer: (kind) => {
      kinds.push(kind)
      return { do: 'slow', delayMs: 60_000 }
    },
    watch: () => null,
  })
  const run = reflect(proxy.access)
  await eventually(() => kinds.length === 1)
  let hasSynced = false
  void run.reflector.synced.then(() => (hasSynced = true))
  await run.end()
  expect([kinds, run.store.list().length, hasSynced]).toEqual([['list'], 0, false])
})

test('an error of a listener ends the reflector with that error', async () => {
  const store = new Store<ConfigMap>()
  store.subscribe(() => {
    throw new RangeError('a mistake in the program')
  })
  await put('loud', '1')
  const reflector = new Reflector({
    client,
    resource: configMaps,
    store,
    clock: systemClock,
    random: seededRandom(1),
    selection,
  })
  await expect(reflector.run(signal)).rejects.toThrow(RangeError)
  await remove('loud')
})

describe.concurrent("after faults the store equals the server's list", () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']

  test.each(Array.from({ length: 6 }, (_, at) => at + 1))('seed %i', async (seed) => {
    const suite = `seed-${seed}`
    let run: ReturnType<typeof reflect> | undefined
    const uids = new Map<string, string>()
    await runSchedule({
      seed,
      access,
      async act(random) {
        const name = `${suite}-${names[Math.floor(random.next() * names.length)]}`
        const lot = random.next()
        if (lot < 0.6) await put(name, String(random.next()), suite)
        else await remove(name)
        // Recreates the object under the same name at once.
        if (lot > 0.85) await put(name, 'back', suite)
      },
      async start(through, stop) {
        run = reflect(through, { silenceMs: 500, selection: selectionOf(suite) })
        // An update must never be about another object.
        run.store.subscribe(({ type, object: { metadata } }) => {
          if (type === 'updated') expect(metadata.uid).toBe(uids.get(metadata.name))
          if (type === 'deleted') uids.delete(metadata.name)
          else uids.set(metadata.name, metadata.uid!)
        })
        await new Promise((resolve) => stop.addEventListener('abort', resolve))
        await run.end()
      },
      settled: () => expectEqual(run!.store, selectionOf(suite)),
    })
    expect(Object.fromEntries(uids)).toEqual(
      Object.fromEntries(run!.store.list().map(({ metadata }) => [metadata.name, metadata.uid])),
    )
  })
})
