// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { HedgeBudget } from './hedge-budget.ts'

function after(reads: number): HedgeBudget {
  const budget = new HedgeBudget()
  for (let read = 0; read < reads; read++) budget.earn()
  return budget
}

function spendAll(budget: HedgeBudget): number {
  let spent = 0
  while (budget.spend()) spent += 1
  return spent
}

test.each([
  [9, 0],
  [10, 1],
  [19, 1],
  [50, 5],
  [100, 10],
  [100_000, 10],
])('%i reads without a hedge allow %i', (reads, hedges) => {
  expect(spendAll(after(reads))).toBe(hedges)
})

test('what is given back is not more than can be saved up', () => {
  const budget = after(100)
  expect(budget.spend()).toBe(true)
  for (let read = 0; read < 10; read++) budget.earn()
  budget.refund()
  expect(spendAll(budget)).toBe(10)
})

test('a hedge that was not made after all may be made later', () => {
  const budget = after(10)
  expect(budget.spend()).toBe(true)
  budget.refund()
  expect(spendAll(budget)).toBe(1)
})
