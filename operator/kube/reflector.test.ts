// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/random.ts'
import { VirtualClock } from '../../proxy/clock/virtual-clock.ts'
import type { KubeObject } from './object.ts'
import { Reflector } from './reflector.ts'
import type { Resource } from './resource.ts'
import { Store } from './store.ts'

const things: Resource = {
  group: 'g',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
}

test('watches that end at once, with nothing in them, are asked for with growing pauses', async () => {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const failures: string[] = []
  let watches = 0
  const client = {
    list: () => Promise.resolve({ items: [], resourceVersion: '1' }),
    async *watch() {
      watches += 1
      // Without a guard this would never yield to anything else.
      if (watches > 1_000) stop.abort()
      yield* []
    },
  }
  const reflector = new Reflector<KubeObject>({
    client: client as never,
    resource: things,
    store: new Store<KubeObject>(),
    clock,
    random: seededRandom(1),
    observer: { reflectFailed: (_, verb, { name }) => failures.push(`${verb} ${name}`) },
  })
  const ended = reflector.run(stop.signal)
  await clock.advance(60_000)
  stop.abort()
  await ended
  expect(watches).toBeGreaterThan(2)
  expect(watches).toBeLessThan(10)
  expect(new Set(failures)).toEqual(new Set(['watch EmptyWatchError']))
})
