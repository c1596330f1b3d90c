// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

it('takes long bodies up to three quarters, short ones up to its bound, and goes on after', () => {
  const budget = new ByteBudget(100)
  const states = [74, 1, 24, 1, 50, -50, -1, -25].map((bytes) => {
    if (bytes > 0) budget.hold(bytes)
    else budget.release(-bytes)
    return [budget.heldBytes, budget.isTight, budget.isFull]
  })
  expect(states).toEqual([
    [74, false, false],
    [75, true, false],
    [99, true, false],
    [100, true, true],
    [150, true, true],
    [100, true, true],
    [99, true, false],
    [74, false, false],
  ])
})
