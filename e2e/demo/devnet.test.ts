// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JsonRpcProvider, Network, Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { waitUntil } from '../processes/eventually.ts'
import { Devnet } from './devnet.ts'

test('several nodes have one chain, and a killed node catches up', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rpc-router-devnet-test-'))
  const stop = new AbortController()
  const { signal } = stop
  try {
    await using children = new ChildProcesses(directory)
    const devnet = await Devnet.start(['a', 'b'], await freePorts(2), { children, signal })
    const producing = devnet.run(signal)
    const [a, b] = devnet.nodes.map(({ url }) => url) as [string, string]
    const rich = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
    const provider = new JsonRpcProvider(a, Network.from(1), { staticNetwork: true })
    const wallet = new Wallet(rich, provider)
    const { hash, nodes } = await devnet.transact(signal, async () => {
      const raw = await wallet.signTransaction(
        await wallet.populateTransaction({ to: wallet.address, value: 1n }),
      )
      await askRpc(b, 'eth_sendRawTransaction', [raw])
      return askRpc<string>(a, 'eth_sendRawTransaction', [raw])
    })
    provider.destroy()
    expect(nodes).toBe(2)
    const minedIn = (url: string) =>
      askRpc<{ blockHash: string } | null>(url, 'eth_getTransactionReceipt', [hash])
    await waitUntil('mined', 60_000, signal, async () => (await minedIn(b)) !== null)
    const before = await minedIn(b)
    expect(await minedIn(a)).toEqual(before)
    const head = devnet.head
    await devnet.kill('b', 3)
    expect(devnet.head).toBeGreaterThanOrEqual(head + 3)
    await expect(askRpc(b, 'eth_blockNumber')).rejects.toThrow('fetch failed')
    expect(await devnet.revive('b')).toBe(devnet.head)
    expect(await minedIn(b)).toEqual(before)
    stop.abort()
    await producing
  } finally {
    stop.abort()
    rmSync(directory, { recursive: true })
  }
})
