// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { badnesses } from './badnesses.ts'
import { grid } from './grid.fixture.ts'
import { rowsOf, seenIn } from './rows.ts'

/** One fault of each kind. The slow tests cover the others. */
const common = ['down', 'reset after head', '429 in seconds', '502 html', 'invalid json', 'lag']
const rows = rowsOf(grid)

test('the grid has a row for each fault and kind of call', () => {
  const kinds = ['read', 'latest', 'write', 'local']
  const wanted = Object.keys(badnesses).flatMap((fault) => kinds.map((kind) => `${fault}, ${kind}`))
  const present = rows.map(([fault, kind]) => `${fault}, ${kind}`)
  // A write that some nodes accept and others answer with null has no fixed result: the first wins.
  // A call that may revert needs a node that reverts.
  expect(present.filter((each) => each !== 'reverts, call')).toEqual(
    wanted.filter((each) => each !== 'null result, write'),
  )
})

describe('each bad node has the outcome of the grid', () => {
  test.concurrent.each(rows.filter(([fault = '']) => common.includes(fault)))('%s, %s', isMet)
})

async function isMet(fault = '', kind = '', ...wanted: string[]): Promise<void> {
  expect(await seenIn(badnesses[fault as keyof typeof badnesses], kind, wanted)).toEqual(wanted)
}
