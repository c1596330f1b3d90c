// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { solanaFamily } from './solana.ts'
import { SubscriptionFixture, type FixtureOptions } from '../testing/subscription-fixture.ts'
import type { TestSocket } from '../testing/test-socket.ts'

/** Slots that have a block. Confirmed slots end 2 below the newest, finalized ones 32 below. */
class Slots {
  readonly all = Array.from({ length: 41 }, (_, at) => 60 + at)
  confirmedLag = 2
  skipped = new Set<number>()

  get newest(): number {
    return this.all.at(-1) as number
  }

  event(slot = this.newest): string {
    const parent = this.all[this.all.indexOf(slot) - 1] ?? slot - 1
    return JSON.stringify({ parent, root: slot - 32, slot })
  }

  make(count = 1): void {
    for (let slot = this.newest + 1; count > 0; slot++)
      if (!this.skipped.has(slot)) {
        this.all.push(slot)
        count--
      }
  }

  answer(method: string, params: readonly unknown[]): unknown {
    const { commitment } = params.at(-1) as { commitment: string }
    const lag = { processed: 0, confirmed: this.confirmedLag, finalized: 32 }[commitment] ?? 0
    const newest = Math.max(...this.all.filter((slot) => slot <= this.newest - lag), 0)
    if (method === 'getSlot') return newest
    if (method !== 'getBlocks') throw new Error(`no call should ask for ${method}`)
    const [first, last] = params as [number, number]
    return this.all.filter((slot) => slot >= first && slot <= Math.min(last, newest))
  }
}

async function setUp(options: Partial<FixtureOptions> = {}) {
  const slots = new Slots()
  const fixture = await SubscriptionFixture.create({
    chainId: 'SLOTCHAIN',
    family: (ask, clock) => solanaFamily({ ask, clock, blockTimeMs: 400 }),
    answer: (method, params: never) => slots.answer(method, params),
    ...options,
  })
  const { one, two } = fixture.sockets
  return { slots, fixture, one: one as TestSocket, two: two as TestSocket }
}
const slotsOf = (texts: readonly string[]) =>
  texts.map((text) => (JSON.parse(text) as { slot: number }).slot)

test('slots pass unchanged, with the gaps of the chain', async () => {
  const { slots, fixture, one } = await setUp()
  const client = await fixture.join('slotSubscribe', [])
  slots.skipped.add(102)
  const pushed: string[] = []
  for (let each = 0; each < 3; each++) {
    slots.make()
    pushed.push(slots.event())
    one.push(slots.event())
    one.push(slots.event())
  }
  await fixture.clock.advance(0)
  expect(client.texts).toEqual(pushed)
  expect(slotsOf(pushed)).toEqual([101, 103, 104])
  expect(fixture.calls.filter((call) => call.includes('getBlocks'))).toEqual([])
})

test('missed slots come first, once they are confirmed', async () => {
  const { slots, fixture, one, two } = await setUp()
  const client = await fixture.join('slotSubscribe', [])
  slots.skipped.add(103)
  one.cut()
  slots.make(5)
  await fixture.clock.advance(100)
  two.push(slots.event())
  await fixture.clock.advance(300)
  expect(slotsOf(client.texts)).toEqual([101, 102, 104])
  slots.confirmedLag = 0
  await fixture.clock.advance(1_000)
  expect(slotsOf(client.texts)).toEqual([101, 102, 104, 105, 106])
  expect(client.texts[2]).toBe('{"parent":102,"root":74,"slot":104}')
  expect(client.texts.at(-1)).toBe(slots.event())
})

test('the router waits for unconfirmed slots', async () => {
  const { slots, fixture, one, two } = await setUp()
  const client = await fixture.join('slotSubscribe', [])
  one.cut()
  slots.make(6)
  await fixture.clock.advance(6)
  two.push(slots.event())
  await fixture.clock.advance(1_000)
  slots.confirmedLag = 0
  await fixture.clock.advance(1_000)
  expect(slotsOf(client.texts)).toEqual([101, 102, 103, 104, 105, 106])
})

test('a fork is sent as it arrives, even if its parent is older', async () => {
  const { fixture, one } = await setUp()
  const client = await fixture.join('slotSubscribe', [])
  const events = [
    { parent: 100, root: 70, slot: 101 },
    { parent: 100, root: 70, slot: 102 },
    { parent: 101, root: 70, slot: 103 },
  ].map((event) => JSON.stringify(event))
  for (const event of events) one.push(event)
  await fixture.clock.advance(0)
  expect(client.texts).toEqual(events)
})

test('more missed slots than the limit end it with a reason', async () => {
  const { slots, fixture, one, two } = await setUp({ maxGapBlocks: 50 })
  const client = await fixture.join('slotSubscribe', [])
  one.cut()
  slots.make(80)
  await fixture.clock.advance(100)
  two.push(slots.event())
  await fixture.clock.advance(5_000)
  expect(client.ended).toBe('more than 50 slots were missed')
})
