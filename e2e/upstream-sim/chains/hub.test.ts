// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { serveRouter } from '../../served/served-router.ts'
import { serveNode } from '../served-node.ts'
import { HubChain } from './hub-chain.ts'
import { hubRestNode } from './hub-rest.ts'

test.each(['/cosmos', '/sdk'] as const)('REST nodes with paths below %s', async (root) => {
  const chain = new HubChain()
  await using node = await serveNode(() => hubRestNode(chain, {}, root))
  await using router = await serveRouter({
    chainId: 'HUBCHAIN',
    apiInterface: 'rest',
    primaries: [node],
  })
  // The router finds the height under either prefix.
  expect(router.pool.tip).toBe(chain.head)
  const other = root === '/cosmos' ? '/sdk' : '/cosmos'
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(router.url + path, { headers })
  const supply = await get(`${root}/bank/v1beta1/supply`)
  expect(await supply.json()).toMatchObject({ supply: [{ denom: 'uatom' }] })
  const then = await get(`${root}/bank/v1beta1/supply`, { 'x-cosmos-block-height': '7' })
  expect(await then.json()).toMatchObject({ supply: [{ amount: '400000000000007' }] })
  const block = await get(`${root}/base/tendermint/v1beta1/blocks/9`)
  expect(await block.json()).toMatchObject({ block: { header: { height: '9' } } })
  expect((await get(`${other}/bank/v1beta1/supply`)).status).toBe(501)
})
