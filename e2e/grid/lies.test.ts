// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { lieAbout, type LiedAbout, type LieKind } from '../simulation/lies.ts'
import type { Fault } from '../upstream-sim/faults.ts'
import { askedMethods, type Badness, truth } from './cell.ts'
import { rowsOf, seenIn } from './rows.ts'

/**
 * Answers that are right in their form and untrue, and what becomes of one call; in the words of
 * `grid.test.ts`. One call more where an honest node is left; what two nodes show alike is passed on.
 */
const grid = `
lie                     | call          | one bad of two | one bad of three | all three bad   | bad, and a good backup
wrong block             | block         | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong block             | block by hash | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong block             | transaction   | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong block             | receipt       | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong block             | receipts      | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1

wrong-number            | block         | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong-hash              | block by hash | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong-transaction       | transaction   | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
wrong-receipt           | receipt       | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
receipts-of-parent      | receipts      | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
receipts-mixed          | receipts      | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1

log-out-of-range        | logs          | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
log-of-other-address    | logs          | b 1/1          | b 1/1/0          | the lie 1/1/0   | z 1/1
`

const lying = (fault: Fault): Badness => ({
  onceServing: (node) => void node.faults.add(fault, { methods: askedMethods }),
})

function badnessOf(name: string): Badness {
  if (name === 'wrong block') return lying({ kind: 'wrong-block' })
  const forge = (call: LiedAbout, honest: string) =>
    lieAbout([name as LieKind], call, honest, truth.answer)?.body ?? null
  return lying({ kind: 'forged', forge })
}

test.concurrent.each(rowsOf(grid))('%s, %s', async (name = '', kind = '', ...wanted: string[]) => {
  const seen = await seenIn(badnessOf(name), kind, wanted)
  expect(seen.map((each) => each.replace(/^wrong result: .* /, 'the lie '))).toEqual(wanted)
})
