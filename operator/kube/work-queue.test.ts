// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { WorkQueue } from './work-queue.ts'

function queueOf(clock = new VirtualClock()) {
  return { clock, queue: new WorkQueue({ name: 'test', clock }) }
}

test('a key that is added twice is taken once', async () => {
  const { queue } = queueOf()
  queue.add('a')
  queue.add('a')
  expect(await queue.take()).toBe('a')
  queue.done('a')
  expect(queue.isIdle).toBe(true)
})

test('keys are taken in the order of their arrival', async () => {
  const { queue } = queueOf()
  for (const key of ['b', 'a', 'c', 'a']) queue.add(key)
  expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(['b', 'a', 'c'])
})

test('a key that is added while being processed comes back once, after it is done', async () => {
  const { clock, queue } = queueOf()
  queue.add('a')
  expect(await queue.take()).toBe('a')
  queue.add('a')
  queue.add('a')
  let second: string | null = null
  void queue.take().then((key) => (second = key))
  await clock.advance(1)
  expect(second).toBeNull()
  queue.done('a')
  await clock.advance(1)
  expect(second).toBe('a')
  queue.done('a')
  expect(queue.isIdle).toBe(true)
})

test('the earliest of several delays wins', async () => {
  const { clock, queue } = queueOf()
  queue.addAfter('a', 100)
  queue.addAfter('a', 50)
  queue.addAfter('a', 70)
  await clock.advance(49)
  expect(queue.depth).toBe(0)
  await clock.advance(1)
  expect(queue.depth).toBe(1)
  await clock.advance(100)
  expect([queue.depth, clock.pending]).toEqual([1, 0])
})

test('a queue that is shut down resolves its takers, returns no key, and leaves no timer', async () => {
  const { clock, queue } = queueOf()
  const waiting = queue.take()
  queue.addAfter('a', 50)
  queue.shutDown()
  expect(await waiting).toBeNull()
  queue.add('b')
  expect(await queue.take()).toBeNull()
  expect(clock.pending).toBe(0)
})

test('the queue reports its metrics', async () => {
  const reported: unknown[] = []
  const clock = new VirtualClock()
  const observer = {
    queueAdded: (name: string) => reported.push(['added', name]),
    queueTaken: (_: string, waitedMs: number) => reported.push(['taken', waitedMs]),
    queueDone: (_: string, workedMs: number) => reported.push(['done', workedMs]),
    queueRetried: () => reported.push(['retried']),
  }
  const queue = new WorkQueue({ name: 'q', clock, observer })
  queue.add('a')
  await clock.advance(30)
  await queue.take()
  await clock.advance(70)
  expect([queue.active, queue.longestMs]).toEqual([1, 70])
  queue.addRateLimited('a')
  queue.done('a')
  expect([queue.active, queue.longestMs]).toEqual([0, 0])
  expect(reported).toEqual([['added', 'q'], ['taken', 30], ['retried'], ['done', 70]])
})

test('a failed key waits 5 ms, doubling up to two minutes; forget resets the delay', async () => {
  const clock = new VirtualClock()
  let takenMs = 0
  const observer = { queueTaken: () => (takenMs = clock.nowMs()) }
  const queue = new WorkQueue({ name: 'q', clock, observer })
  const delayOf = async (key: string, retryAfterMs?: number) => {
    const failedMs = clock.nowMs()
    queue.addRateLimited(key, retryAfterMs)
    const taken = queue.take()
    await clock.advance(200_000)
    queue.done((await taken) ?? '')
    return takenMs - failedMs
  }
  const delays: number[] = []
  while (delays.length < 20) delays.push(await delayOf('a'))
  expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40])
  expect(delays.at(-1)).toBe(120_000)
  expect(delays).toEqual(delays.toSorted((a, b) => a - b))
  expect(queue.failuresOf('a')).toBe(20)
  expect([await delayOf('b'), await delayOf('b', 3_000)]).toEqual([5, 3_000])
  queue.forget('a')
  expect([queue.failuresOf('a'), await delayOf('a')]).toEqual([0, 5])
  expect(await delayOf('a', 86_400_000)).toBe(120_000)
})

test('an idle queue has no longest work, even on a clock that advances with each reading', () => {
  let nowMs = 0
  const clock = { ...new VirtualClock(), nowMs: () => (nowMs += 0.002) } as unknown as VirtualClock
  const queue = new WorkQueue({ name: 'test', clock })
  expect(queue.longestMs).toBe(0)
})

/** Steps of the property test: keys are added, workers take and finish them, time passes. */
const keys = fc.constantFrom('a', 'b', 'c', 'd')
const steps = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key: keys }),
  fc.record({ do: fc.constant('later' as const), key: keys, ms: fc.nat(40) }),
  fc.record({ do: fc.constant('fail' as const), key: keys }),
  fc.record({ do: fc.constant('forget' as const), key: keys }),
  fc.record({ do: fc.constant('work' as const), ms: fc.nat(40) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(30) }),
)

test('no key is lost, processed twice at the same time, or taken without a request', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 80 }), async (script) => {
      const { clock, queue } = queueOf()
      const active = new Set<string>()
      /** Keys that were requested but not taken yet: the oracle. */
      const wanted = new Set<string>()
      const requests = new Map<string, number>()
      const taken = new Map<string, number>()
      const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
      const work = async (ms: number) => {
        const key = await queue.take()
        if (key === null) return
        expect(active.has(key)).toBe(false)
        active.add(key)
        wanted.delete(key)
        count(taken, key)
        expect(taken.get(key)).toBeLessThanOrEqual(requests.get(key) ?? 0)
        clock.after(ms, () => {
          active.delete(key)
          queue.done(key)
        })
      }
      for (const step of script) {
        if (step.do === 'wait') await clock.advance(step.ms)
        else if (step.do === 'work') void work(step.ms)
        else if (step.do === 'forget') queue.forget(step.key)
        else {
          wanted.add(step.key)
          count(requests, step.key)
          if (step.do === 'add') queue.add(step.key)
          else if (step.do === 'later') queue.addAfter(step.key, step.ms)
          else queue.addRateLimited(step.key)
        }
      }
      // With enough workers and time, every requested key is processed.
      for (let more = 0; more < script.length; more++) void work(1)
      await clock.advance(2_000_000)
      expect([...wanted]).toEqual([])
      expect([queue.isIdle, active.size, clock.pending]).toEqual([true, 0, 0])
    }),
    { numRuns: 300 },
  )
})
