// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { readList } from './answers.ts'
import { ApiError } from './errors.ts'
import { objectKey, type KubeObject, type Resource } from './object.ts'
import { Reflector } from './reflector.ts'
import { Store } from './store.ts'

const things: Resource = {
  group: 'g',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
}

/** Runs a reflector for a minute and returns its failures. @param stop ends it early */
async function reflectFor(
  client: object,
  store = new Store<KubeObject>(),
  stop = new AbortController(),
): Promise<readonly string[]> {
  const clock = new VirtualClock()
  const failures: string[] = []
  const reflector = new Reflector<KubeObject>({
    client: client as never,
    resource: things,
    store,
    clock,
    random: seededRandom(1),
    observer: { reflectFailed: (_, verb, { name }) => failures.push(`${verb} ${name}`) },
  })
  const ended = reflector.run(stop.signal)
  await clock.advance(60_000)
  stop.abort()
  await ended
  return failures
}

test.each<[string, readonly object[]]>([
  ['no event', []],
  ['a bookmark of their start', [{ type: 'BOOKMARK', resourceVersion: '5' }]],
  ['an old bookmark', [{ type: 'BOOKMARK', resourceVersion: '3' }]],
  [
    'known events',
    [{ type: 'ADDED', object: { metadata: { name: 'a', uid: '1', resourceVersion: '4' } } }],
  ],
])('watches that end at once with %s are retried with growing pauses', async (_, events) => {
  const stop = new AbortController()
  let watches = 0
  const client = {
    list: () => Promise.resolve({ items: [], resourceVersion: '5' }),
    async *watch() {
      watches += 1
      // Without this guard, the loop would never yield.
      if (watches > 1_000) stop.abort()
      yield* events
    },
  }
  const failures = await reflectFor(client, undefined, stop)
  expect(watches).toBeGreaterThan(2)
  expect(watches).toBeLessThan(10)
  expect(new Set(failures)).toEqual(new Set(['watch EmptyWatchError']))
})

/** Returns the changes that a store publishes for the events of consecutive watches. */
async function changesOf(watches: readonly (readonly (readonly [string, string])[])[]) {
  const left = [...watches]
  const client = {
    list: () => Promise.resolve({ items: [], resourceVersion: '5' }),
    async *watch() {
      for (const [type, resourceVersion] of left.shift() ?? [])
        yield { type, object: { metadata: { name: 'a', uid: '1', resourceVersion } } }
    },
  }
  const store = new Store<KubeObject>()
  const changes: string[] = []
  store.subscribe(({ type, object }) => changes.push(`${type} ${object.metadata.resourceVersion}`))
  await reflectFor(client, store)
  return changes
}

test.each<[string, readonly (readonly (readonly [string, string])[])[], readonly string[]]>([
  [
    'a server that replays old events does not restore a deleted object',
    [
      [
        ['ADDED', '6'],
        ['DELETED', '7'],
      ],
      [['ADDED', '6']],
      [],
    ],
    ['added 6', 'deleted 7'],
  ],
  [
    'a server that replays old events does not delete a recreated object',
    [
      [
        ['ADDED', '6'],
        ['DELETED', '7'],
        ['ADDED', '8'],
      ],
      [
        ['ADDED', '6'],
        ['DELETED', '7'],
      ],
      [],
    ],
    ['added 6', 'deleted 7', 'added 8'],
  ],
  [
    'versions that are not numbers have no order, so every event counts',
    [
      [
        ['ADDED', 'x'],
        ['MODIFIED', 'b'],
        ['DELETED', 'a'],
      ],
      [],
    ],
    ['added x', 'updated b', 'deleted a'],
  ],
])('%s', async (_name, watches, changes) => {
  expect(await changesOf(watches)).toEqual(changes)
})

test('a list request is retried when its answer with status 200 is not a list', async () => {
  const answers: unknown[] = [null, {}, { error: 'upstream connect error' }]
  const page = {
    items: [{ metadata: { name: 'a', resourceVersion: '3' } }],
    metadata: { resourceVersion: '5' },
  }
  const type = { apiVersion: 'g/v1', kind: 'Thing' }
  const client = {
    list: async () => readList('GET /things', answers.length > 0 ? answers.shift() : page, type),
    async *watch() {
      yield* []
    },
  }
  const store = new Store<KubeObject>()
  const failures = await reflectFor(client, store)
  expect(failures.slice(0, 3)).toEqual(Array(3).fill('list MalformedAnswerError'))
  expect(store.list().map(({ metadata }) => objectKey(metadata))).toEqual(['a'])
})

test('a watch with a Retry-After of an hour is retried within a minute', async () => {
  let watches = 0
  const client = {
    list: () => Promise.resolve({ items: [], resourceVersion: '1' }),
    async *watch(_: Resource, __: object, signal: AbortSignal) {
      watches += 1
      if (watches === 1) throw new ApiError('GET /things', 503, {}, 3_600_000)
      yield { type: 'ADDED', object: { metadata: { name: 'a', uid: '1', resourceVersion: '2' } } }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const store = new Store<KubeObject>()
  await reflectFor(client, store)
  expect(store.list().map(({ metadata }) => objectKey(metadata))).toEqual(['a'])
})
