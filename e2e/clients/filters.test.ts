// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { JsonRpcProvider, Network, Wallet } from 'ethers'
import { createPublicClient, http } from 'viem'
import { mainnet } from 'viem/chains'
import { expect, test } from 'vitest'
import { Devnet } from '../demo/devnet.ts'
import { anvilKey } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createWorkspace } from '../program/workspace.ts'
import { serveRouter } from '../served/served-router.ts'

const bell = `0x${'be'.repeat(20)}` as const
/** Code of a contract that emits one log without topics per call. */
const bellCode = '0x60006000a000'

test('a client that polls a filter over HTTP gets each log once while its node dies', async () => {
  await using stack = new AsyncDisposableStack()
  const stop = new AbortController()
  const { signal } = stop
  stack.defer(() => {
    stop.abort()
  })
  const children = stack.use(new ChildProcesses(stack.use(await createWorkspace()).directory))
  const devnet = await Devnet.start(['one', 'two'], await freePorts(2), { children, signal })
  for (const { url } of devnet.nodes) await askRpc(url, 'anvil_setCode', [bell, bellCode])
  const router = stack.use(await serveRouter({ primaries: devnet.nodes }))
  const provider = new JsonRpcProvider(router.url, Network.from(1), { staticNetwork: true })
  stack.defer(() => {
    provider.destroy()
  })
  const wallet = new Wallet(anvilKey, provider)
  const errors: unknown[] = []
  // Round-robin selection gives each node some of the filters.
  const requests: string[][] = []
  const seen = [1, 2, 3, 4].map((_, at) => {
    const own: string[] = (requests[at] = [])
    const transport = http(router.url, {
      retryCount: 0,
      onFetchRequest: (__, { body }) => void own.push(body as string),
    })
    const client = createPublicClient({ chain: mainnet, transport, pollingInterval: 300 })
    const hashes: string[] = []
    const unwatch = client.watchEvent({
      address: bell,
      onLogs: (logs) => hashes.push(...logs.map(({ transactionHash }) => transactionHash)),
      onError: (error) => errors.push(error),
    })
    stack.defer(unwatch)
    return hashes
  })
  const sent: string[] = []
  const ring = async () => {
    const { hash } = await devnet.transact(signal, async () => {
      const { hash } = await wallet.sendTransaction({ to: bell, gasLimit: 50_000 })
      return hash
    })
    sent.push(hash)
  }
  const all = (isIt: (client: number) => boolean) =>
    expect.poll(() => seen.every((_, at) => isIt(at)))
  await all((at) => requests[at]!.some((each) => each.includes('eth_getFilterChanges'))).toBe(true)
  const producing = devnet.run(signal)
  for (let each = 0; each < 6; each++) {
    await ring()
    await all((at) => seen[at]!.length >= sent.length).toBe(true)
    if (each === 2) await devnet.kill('one')
  }
  for (const hashes of seen) expect(hashes).toEqual(sent)
  expect(errors).toEqual([])
  stop.abort()
  await producing
}, 90_000)
