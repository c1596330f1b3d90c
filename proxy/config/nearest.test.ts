// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const words = ['chain-id', 'api-interface', 'network-address', 'relay', 'cache-be']

test.each([
  ['chainid', 'chain-id'],
  ['chainId', 'chain-id'],
  ['chain_id', 'chain-id'],
  ['chian-id', 'chain-id'],
  ['chain', 'chain-id'],
  ['api-interfaces', 'api-interface'],
  ['Relay', 'relay'],
  ['network', 'network-address'],
  ['zebra', null],
  ['', null],
  ['x'.repeat(1000), null],
])('nearest to %j is %s', (word, found) => {
  expect(nearest(word, words)).toBe(found)
})
