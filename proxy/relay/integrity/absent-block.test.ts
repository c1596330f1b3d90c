// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { loadCatalog } from '../../chain/load-catalog.ts'
import { BlockMemory } from './block-memory.ts'
import { findViolation } from './find-violation.ts'

const catalog = await loadCatalog([])
const hash = 'ab'.repeat(32)

test.each([
  { name: 'no block', block: null, found: '', violation: undefined },
  { name: 'a block without a hash', block: {}, found: '', violation: 'block-hash' },
  { name: 'another block', block: {}, found: 'cd'.repeat(32), violation: 'block-hash' },
  { name: 'the block', block: {}, found: hash.toUpperCase(), violation: undefined },
])('asked for a hash, a Tendermint node shows $name', ({ block, found, violation }) => {
  const iface = catalog.find('HUBCHAIN')!.interfaces.get('tendermintrpc')!
  const params = { hash: Buffer.from(hash, 'hex').toString('base64') }
  const question = { apiInterface: 'tendermintrpc', method: 'block_by_hash', params } as const
  const { checks, block: asked } = iface.classify(question)
  const bytes = Buffer.from(JSON.stringify({ block_id: { hash: found }, block }))
  const result = { start: 0, end: bytes.length }
  const about = { checks, block: asked, upstream: 'a', skipVerifications: [], horizon: () => null }
  expect(findViolation(bytes, result, about, new BlockMemory())?.check).toBe(violation)
})
