// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { sleep, systemClock } from './clock.ts'
import { Controller, type ControllerOptions } from './controller.ts'
import { ApiError } from './errors.ts'
import type { Reconciled } from './observer.ts'

function controllerOf(
  clock: VirtualClock,
  reconcile: ControllerOptions['reconcile'],
  options: Partial<ControllerOptions> = {},
) {
  const reported: Reconciled[] = []
  const controller = new Controller({
    name: 'test',
    reconcile,
    clock,
    random: seededRandom(1),
    observer: { reconciled: (each) => reported.push(each) },
    ...options,
  })
  const stop = new AbortController()
  let isRunning = true
  void controller.run(stop.signal).then(() => (isRunning = false))
  return { controller, reported, stop, isRunning: () => isRunning }
}

test('changes in quick succession cause one reconcile', async () => {
  const clock = new VirtualClock()
  let times = 0
  const { controller, reported } = controllerOf(clock, async () => void times++)
  for (let each = 0; each < 50; each++) {
    controller.enqueue('ns/a')
    await clock.advance(1)
  }
  await clock.advance(100)
  expect(times).toBe(1)
  expect(reported).toEqual([
    {
      controller: 'test',
      key: 'ns/a',
      result: 'success',
      reconcileId: expect.stringMatching(/^[0-9a-f]{12}$/),
      durationMs: 0,
    },
  ])
})

test('reconciles without I/O do not block the event loop', async () => {
  let turn = 0
  let isOver = false
  const tick = () => {
    turn += 1
    if (!isOver) setImmediate(tick)
  }
  tick()
  const { promise, resolve } = Promise.withResolvers<void>()
  const turns: number[] = []
  const controller = new Controller({
    name: 'test',
    reconcile: async () => {
      turns.push(turn)
      if (turns.length === 100) resolve()
    },
    clock: systemClock,
    random: seededRandom(1),
    workers: 4,
  })
  for (let each = 0; each < 100; each++) controller.queue.add(`ns/${each}`)
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  await promise
  isOver = true
  stop.abort()
  await running
  expect(new Set(turns).size).toBeGreaterThanOrEqual(100 / 4)
})

describe('a reconcile', () => {
  test.each<[string, () => Error, string[]]>([
    [
      'that fails is retried with growing delays',
      () => new Error('no'),
      ['0', '5', '15', '35', '75'],
    ],
    [
      'waits for Retry-After',
      () => new ApiError('PATCH', 429, {}, 30_000),
      ['0', '30000', '60000', '90000'],
    ],
  ])('%s', async (_, error, expected) => {
    const clock = new VirtualClock()
    const atMs: number[] = []
    const { controller } = controllerOf(clock, () => {
      atMs.push(clock.nowMs() - 100)
      return Promise.reject(error())
    })
    controller.enqueue('a')
    await clock.advance(100_000)
    expect(atMs.slice(0, expected.length).map(String)).toEqual(expected)
    if (expected.length === 1) expect(atMs).toHaveLength(1)
  })

  test('with a Retry-After of a day is retried within two minutes', async () => {
    const clock = new VirtualClock()
    let tries = 0
    const { controller, reported } = controllerOf(clock, () => {
      tries += 1
      return tries === 1
        ? Promise.reject(new ApiError('PATCH', 429, {}, 86_400_000))
        : Promise.resolve()
    })
    controller.enqueue('a')
    await clock.advance(121_000)
    expect(reported.map(({ result }) => result)).toEqual(['error', 'success'])
  })

  test('that stays forbidden is reported as a failure', async () => {
    const clock = new VirtualClock()
    const { controller, reported } = controllerOf(clock, () =>
      Promise.reject(new ApiError('PATCH', 403, {})),
    )
    controller.enqueue('a')
    await clock.advance(4_000)
    expect(new Set(reported.map(({ result }) => result))).toEqual(new Set(['retry']))
    await clock.advance(10_000)
    expect(reported.at(-1)?.result).toBe('error')
  })

  test('that asks for a requeue resets its failures', async () => {
    const clock = new VirtualClock()
    let times = 0
    const { controller, reported } = controllerOf(clock, async () => {
      if (++times === 2) throw new Error('once')
      return { requeueAfterMs: 1_000 }
    })
    controller.enqueue('a')
    await clock.advance(3_100)
    expect(reported.map(({ result }) => result)).toEqual(['requeue', 'error', 'requeue', 'requeue'])
    expect(controller.queue.failuresOf('a')).toBe(0)
  })

  test('that exceeds its timeout is aborted and retried', async () => {
    const clock = new VirtualClock()
    const { controller, reported } = controllerOf(
      clock,
      (_, { signal }) => sleep(clock, 1_000_000, signal),
      { timeoutMs: 5_000 },
    )
    controller.enqueue('a')
    await clock.advance(5_100)
    expect(reported).toMatchObject([{ result: 'timeout', durationMs: 5_000 }])
    expect(reported[0]?.error).toMatchObject({ message: 'the reconcile of a took longer than 5 s' })
    await clock.advance(5_010)
    expect(reported).toHaveLength(2)
  })
})

test('workers never reconcile one key at the same time', async () => {
  const clock = new VirtualClock()
  const active = new Set<string>()
  let most = 0
  const { controller } = controllerOf(
    clock,
    async (key, { signal }) => {
      expect(active.has(key)).toBe(false)
      active.add(key)
      most = Math.max(most, active.size)
      await sleep(clock, 500, signal)
      active.delete(key)
    },
    { workers: 3 },
  )
  for (const key of ['a', 'b', 'c', 'd', 'a']) controller.enqueue(key)
  await clock.advance(300)
  controller.enqueue('a')
  await clock.advance(5_000)
  expect(most).toBe(3)
  expect(controller.queue.isIdle).toBe(true)
})

test('a stop waits for running reconciles, starts none, and leaves no timer', async () => {
  const clock = new VirtualClock()
  const ended: string[] = []
  const { controller, stop, reported, isRunning } = controllerOf(clock, async (key, { signal }) => {
    await sleep(clock, 60_000, signal).catch(() => {})
    await sleep(clock, 500, new AbortController().signal)
    ended.push(key)
    signal.throwIfAborted()
  })
  controller.enqueue('a')
  await clock.advance(150)
  controller.enqueue('b')
  stop.abort()
  await clock.advance(400)
  expect([ended, isRunning()]).toEqual([[], true])
  await clock.advance(200)
  expect([ended, isRunning(), clock.pending]).toEqual([['a'], false, 0])
  expect(reported.map(({ result }) => result)).toEqual(['stopped'])
})
