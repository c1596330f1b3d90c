// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { badnesses } from './badnesses.ts'
import { grid } from './grid.fixture.ts'
import { rowsOf, seenIn } from './rows.ts'

const rows = rowsOf(grid)

/** Rows that measure time must not run concurrently, which could make a good node late too. */
const isTimed = ([fault]: readonly string[]) => fault === 'hang' || fault === 'too slow'

describe('each bad node has the outcome of the grid', () => {
  test.concurrent.each(rows.filter((row) => !isTimed(row)))('%s, %s', isMet)
  test.each(rows.filter(isTimed))('%s, %s', isMet)
})

async function isMet(fault = '', kind = '', ...wanted: string[]): Promise<void> {
  expect(await seenIn(badnesses[fault as keyof typeof badnesses], kind, wanted)).toEqual(wanted)
}
