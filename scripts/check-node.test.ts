// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { whyNotNode } from './check-node.ts'

test.each(['18.20.8', '20.20.2', '22.12.0', '24.11.1'])('Node %s is too old', (version) => {
  expect(whyNotNode(version)).toBe(
    `vitest: Node ${version} is too old. ` +
      'Start it with the Node 26 that npm installed: make test, or npx vitest ...',
  )
})

test.each(['26.0.0', '26.10.0', process.versions.node])('Node %s is supported', (version) => {
  expect(whyNotNode(version)).toBeNull()
})
