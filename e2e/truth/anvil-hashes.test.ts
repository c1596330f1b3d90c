// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { JsonRpcProvider, Wallet } from 'ethers'
import { afterAll, expect, test } from 'vitest'
import { anvilKey, startAnvil } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePort } from '../processes/free-ports.ts'
import { createWorkspace } from '../program/workspace.ts'
import { expectOwnHashes } from './own-hashes.ts'

const stack = new AsyncDisposableStack()
afterAll(async () => stack.disposeAsync())

test('the hashes of a real node are those of its headers and transactions', async () => {
  const { signal } = new AbortController()
  const children = stack.use(new ChildProcesses(stack.use(await createWorkspace()).directory))
  const port = await freePort()
  const mining = 'each-transaction' as const
  const anvil = await startAnvil({ name: 'anvil', port, chainId: 1, mining, children, signal })
  const provider = new JsonRpcProvider(anvil.url)
  const wallet = new Wallet(anvilKey, provider)
  for (const [nonce, type] of [0, 1, 2].entries()) {
    const sent = await wallet.sendTransaction({ to: wallet.address, value: 1, type, nonce })
    await sent.wait()
  }
  provider.destroy()
  expect(await expectOwnHashes(anvil.url, 3)).toEqual([0, 1, 2])
}, 60_000)
