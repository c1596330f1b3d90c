// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { serveRouter } from '../served/served-router.ts'
import { MirrorNode } from './mirror-node.ts'

test('the content of a binary answer is not checked', async () => {
  const bytes = Buffer.from([0, 255, 123, 10])
  await using node = await new MirrorNode('node', ({ headers }, response) => {
    const isBinary = headers['accept'] === 'application/x-bcs'
    response.setHeader('content-type', isBinary ? 'application/x-bcs' : 'application/json')
    response.end(isBinary ? bytes : '{"block_height":"6","chain_id":1}')
  }).start()
  await using router = await serveRouter({
    chainId: 'MOVECHAIN',
    apiInterface: 'rest',
    primaries: [node],
    urlSettings: { node: { 'skip-verifications': ['*'] } },
  })
  const target = `${router.url}/blocks/by_height/5`
  const binary = await fetch(target, { headers: { accept: 'application/x-bcs' } })
  expect(binary.status).toBe(200)
  expect(Buffer.from(await binary.arrayBuffer()).equals(bytes)).toBe(true)
  // The JSON answer is about another block.
  const wrong = await fetch(target, { headers: { accept: 'application/json' } })
  expect(wrong.status).toBe(502)
})
