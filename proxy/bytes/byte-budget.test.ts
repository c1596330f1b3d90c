// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteBudget, Reservation } from './byte-budget.ts'

it('accepts long requests up to three quarters, collects up to half, accepts short ones up to its bound, and recovers', () => {
  const budget = new ByteBudget(100)
  const states = [49, 1, 24, 1, 24, 1, 50, -50, -1, -26].map((bytes) => {
    if (bytes > 0) budget.hold(bytes)
    else budget.release(-bytes)
    const allows = [budget.allows(0, 1_000_000), budget.allows(0, 1)]
    return [budget.heldBytes, budget.isTight, ...allows]
  })
  expect(states).toEqual([
    [49, false, true, true],
    [50, true, true, true],
    [74, true, true, true],
    [75, true, false, true],
    [99, true, false, true],
    [100, true, false, false],
    [150, true, false, false],
    [100, true, false, false],
    [99, true, false, true],
    [73, true, true, true],
  ])
})

function clients(budget: ByteBudget, names: string) {
  const cut: string[] = []
  const made = Object.fromEntries(
    [...names].map((name) => [name, { cutOff: () => void cut.push(name) }]),
  )
  const waits = (name: string, bytes: number) => {
    budget.waits(made[name]!, bytes)
  }
  return { cut, waits, acted: (name: string) => budget.acted(made[name]!) }
}

it('cuts off the client idle longest when clients leave half of it waiting', () => {
  const budget = new ByteBudget(100)
  const { cut, waits, acted } = clients(budget, 'abc')
  waits('a', 20)
  waits('b', 20)
  waits('a', 30)
  expect(cut).toEqual([])
  // More buffered bytes are not activity; reading or sending is.
  acted('a')
  waits('c', 10)
  expect(cut).toEqual(['b'])
  waits('b', 0)
  waits('c', 20)
  expect(cut).toEqual(['b'])
  waits('c', 51)
  expect(cut).toEqual(['b', 'a', 'c'])
  expect(budget.cutOffs).toBe(3)
})

it('never has more than half of it waiting, and cuts nobody off below that', () => {
  const step = fc.record({
    name: fc.constantFrom(...'abcde'),
    bytes: fc.nat(40),
    acts: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const budget = new ByteBudget(100)
      const { cut, waits, acted } = clients(budget, 'abcde')
      const waiting = new Map<string, number>()
      const sum = () => [...waiting.values()].reduce((all, each) => all + each, 0)
      for (const { name, bytes, acts } of steps) {
        const gone = cut.length
        if (acts) acted(name)
        waits(name, bytes)
        waiting.set(name, bytes)
        if (sum() <= 50) expect(cut.length).toBe(gone)
        for (const each of cut.slice(gone)) waiting.delete(each)
        expect(sum()).toBeLessThanOrEqual(50)
      }
    }),
  )
})

it('a reservation counts once, never below zero, and not at all once finished', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -50, max: 50 })), (changes) => {
      const budget = new ByteBudget(1e9)
      const [other, reservation] = [new Reservation(budget), new Reservation(budget)]
      other.hold(10)
      for (const change of changes) {
        const before = reservation.heldBytes
        reservation.hold(change)
        expect(reservation.heldBytes).toBe(Math.max(before + change, 0))
        expect(budget.heldBytes).toBe(10 + reservation.heldBytes)
      }
      reservation.release()
      reservation.release()
      expect(budget.heldBytes).toBe(10)
      reservation.hold(5)
      reservation.finish()
      reservation.hold(5)
      expect(budget.heldBytes).toBe(10)
    }),
  )
})

it('a finished reservation waits for no client', () => {
  const budget = new ByteBudget(100)
  const cut: string[] = []
  const reservation = new Reservation(budget, () => void cut.push('over'))
  const late = new Reservation(budget, () => void cut.push('late'))
  reservation.hold(40)
  reservation.waits()
  reservation.finish()
  reservation.waits(40)
  late.hold(40)
  late.acted()
  expect(cut).toEqual([])
  late.hold(11)
  late.acted()
  expect(cut).toEqual(['late'])
})
