// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { History, type ChainReader } from '../family.ts'
import { solanaFamily } from './solana.ts'
import { faults, faulty, pathsOf, type Fault, type MemberPath } from '../testing/faults.ts'
import { SubscriptionFixture } from '../testing/subscription-fixture.ts'
import type { TestSocket } from '../testing/test-socket.ts'

const all = Object.keys(faults) as Fault[]
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at)
const slotEvent = (slot: number) => ({ slot, parent: slot - 1, root: slot - 32 })

interface WrongAnswer {
  readonly method: string
  readonly path: MemberPath
  readonly fault: Fault
}

/** Pushes only the last slot up to 104. The first answer of one kind is wrong. */
async function sentSlots(wrong: WrongAnswer | null, pushed?: unknown) {
  let newest = 100
  let wrongLeft = 1
  const fixture = await SubscriptionFixture.create({
    chainId: 'SLOTCHAIN',
    family: (ask, clock) => solanaFamily({ ask, clock, blockTimeMs: 400 }),
    answer: (method, params: readonly unknown[]) => {
      const [first, last] = params as [number, number]
      const answer = method === 'getSlot' ? newest : range(first, Math.min(last, newest))
      if (newest === 100 || wrong?.method !== method || wrongLeft-- <= 0) return answer
      return faulty(answer, wrong.path, wrong.fault)
    },
  })
  const client = await fixture.join('slotSubscribe', [])
  newest = 104
  const { one } = fixture.sockets
  const socket = one as TestSocket
  if (pushed !== undefined) socket.push(JSON.stringify(pushed))
  await fixture.clock.advance(10)
  socket.push(slotEvent(104))
  await fixture.clock.advance(60_000)
  expect(client.ended).toBeNull()
  return client.texts.map((text) => (JSON.parse(text) as { slot: number }).slot)
}

describe('when the first upstream answers incorrectly in any field', () => {
  /** A slot may legitimately have no block. */
  const mightBe = (path: MemberPath, fault: Fault) =>
    (path.length === 0 && fault === 'a list') || (path.length === 1 && fault === 'nothing')

  test.each(all)('missed slots: %s', async (fault) => {
    for (const path of pathsOf(range(101, 103))) {
      const slots = await sentSlots({ method: 'getBlocks', path, fault })
      expect(slots.at(-1)).toBe(104)
      if (!mightBe(path, fault)) expect(slots, path.join('.')).toEqual(range(101, 104))
    }
  })

  test.each(all)('the newest slot: %s', async (fault) => {
    expect(await sentSlots({ method: 'getSlot', path: [], fault })).toEqual(range(101, 104))
  })

  test.each(all)('pushed events: %s', async (fault) => {
    for (const path of pathsOf(slotEvent(102))) {
      // On another branch, a slot may follow any earlier one.
      if (path[0] === 'parent' && fault === 'a number') continue
      const slots = await sentSlots(null, faulty(slotEvent(102), path, fault))
      expect(slots, path.join('.')).toEqual(range(101, 104))
    }
  })
})

test.each([
  ['one before the requested range', [100, 101, 102, 103]],
  ['one after the requested range', [101, 102, 103, 104]],
])('missed slots with %s are requested from another upstream', async (_, slots) => {
  const requests: string[] = []
  const family = solanaFamily({
    ask: ({ method, avoid }) => {
      requests.push(`${method} without ${avoid.join()}`)
      const value = method === 'getSlot' ? 103 : avoid.length === 0 ? slots : [101, 102, 103]
      const upstream = avoid.length === 0 ? 'one' : 'two'
      return Promise.resolve({ result: Buffer.from(JSON.stringify(value)), upstream })
    },
    clock: new VirtualClock(),
    blockTimeMs: 400,
  })
  const reader = family.readers['slot'] as ChainReader
  const block = reader.read(Buffer.from(JSON.stringify(slotEvent(104))))
  const sent = new History(10)
  sent.append({ number: 100, id: '100', parent: '99' })
  const path = await reader.pathTo(block as never, {
    sent,
    tip: sent.tip as never,
    maxBlocks: 100,
    prefer: null,
    signal: new AbortController().signal,
  })
  expect(path?.blocks.map(({ number }) => number)).toEqual([101, 102, 103, 104])
  expect(requests).toEqual(['getSlot without ', 'getBlocks without ', 'getBlocks without one'])
})
