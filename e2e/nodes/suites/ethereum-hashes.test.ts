// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { askRpc } from '../../processes/rpc-client.ts'
import { expectOwnHashes } from '../../truth/own-hashes.ts'
import { ethereumNodes } from './ethereum-nodes.ts'
import { openGround } from './ground.ts'

const ground = await openGround()

test('the hashes of geth are those of its headers and transactions', async () => {
  const node = await ethereumNodes.geth(ground, 'moving')
  const { url } = node.url
  await expect
    .poll(async () => Number(await askRpc<string>(url, 'eth_blockNumber')), {
      timeout: 20_000,
    })
    .toBeGreaterThan(1)
  expect((await expectOwnHashes(url, 2)).length).toBeGreaterThan(0)
}, 60_000)
