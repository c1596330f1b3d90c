// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../proxy/cli/main.ts'
import { startAnvil } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { createWorkspace, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'

const stack = new AsyncDisposableStack()
let workspace: Workspace
const urls = new Map<string, string>()

/** Client versions and chain ids of test nodes without a package here. */
const simulated = [
  ['HardhatNetwork/2.22.5/@nomicfoundation/edr/0.4.0', 31_337],
  ['HardhatNetwork/3.0.1/fork', 1],
  ['Geth/v1.16.7-stable/linux-amd64/go1.25', 1_337],
  ['Ganache/v7.9.2/EthereumJS TestRPC/v7.9.2/ethereum-js', 1_337],
  ['EthereumJS TestRPC/v2.13.2/ethereum-js', 5_777],
  ['Geth/v1.16.7-stable/linux-amd64/go1.25', 1],
  ['erigon/3.0.0/linux-amd64/go1.25', 11_155_111],
] as const
const nameOf = (client: string, chainId: number) => `${client} on chain ${chainId}`

beforeAll(async () => {
  workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const [port = 0, forkPort = 0] = await freePorts(2)
  const signal = AbortSignal.timeout(20_000)
  const anvil = await startAnvil({ name: 'anvil', port, chainId: 31_337, children, signal })
  const fork = await startAnvil({ name: 'fork', port: forkPort, chainId: 1, children, signal })
  urls.set('anvil', anvil.url).set('anvil with the chain id of mainnet', fork.url)
  for (const [client, chainId] of simulated) {
    const chain = createChainModel({ seed: client, chainId })
    const methods = { web3_clientVersion: () => client }
    const node = stack.use(await startSimNode({ chain, name: 'node', methods }))
    urls.set(nameOf(client, chainId), node.url)
  }
})
afterAll(() => stack.disposeAsync())

async function router(...args: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const code = await main(args, {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    environment: {},
  })
  return { code, ...written }
}

/** The chain that matches a node; null: the chain that the user selects. */
const chains: readonly (readonly [node: string, chain: string | null])[] = [
  ['anvil', 'ANVIL'],
  ['anvil with the chain id of mainnet', 'ANVIL'],
  ...simulated.map(([client, chainId], at): [string, string | null] => [
    nameOf(client, chainId),
    ['ANVIL', 'ANVIL', 'GETH-DEV', 'GETH-DEV', 'ANVIL', null, null][at] ?? null,
  ]),
]

test.each(chains)('router init writes the chain of %s: %s', async (node, chain) => {
  const url = urls.get(node) ?? ''
  const named = await router('init', '--chain', 'ETH1', '--url', url)
  expect(named).toMatchObject({ code: 0 })
  expect(named.stdout.match(/chain-id: (\S+)/g)).toEqual([`chain-id: ${chain ?? 'ETH1'}`])
  const said = chain && new RegExp(`^${chain}, which caches nothing: a test node answers \\(`)
  expect(named.stderr).toMatch(said ?? /^Next: /)

  const unnamed = await router('init', '--url', url)
  expect(unnamed.code).toBe(0)
  if (chain === null) expect(unnamed.stdout).toMatch(/chain-id: (?:ETH1|SEP1)\n/)
  else expect(unnamed.stdout).toBe(named.stdout)
})

test('the doctor finds nothing to change in a config of router init for a test node', async () => {
  for (const [node, chain] of chains) {
    if (chain === null) continue
    const { stdout } = await router('init', '--url', urls.get(node) ?? '')
    const file = await workspace.write('written.yml', stdout)
    const { code, stdout: report } = await router('doctor', file)
    expect([node, code, report]).toEqual([node, 0, expect.not.stringContaining('test node')])
  }
})

test.each(chains)('router doctor warns if a caching chain serves %s', async (node, chain) => {
  const served = { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc' }
  const url = { url: urls.get(node), 'skip-verifications': ['*'] }
  const file = await workspace.write('doctor.yml', {
    endpoints: [{ 'network-address': '127.0.0.1:3360', ...served }],
    'direct-rpc': [{ name: 'local', ...served, 'node-urls': [url] }],
    'skip-websocket-verification': 'true',
  })
  const { code, stdout } = await router('doctor', file)
  const warning = `note: is a test node \\(.+\\): its state changes without a block, and ETH1 caches answers; write chain-id: ${chain}\n`
  expect(code).toBe(0)
  if (chain === null) expect(stdout).not.toContain('test node')
  else expect(stdout).toMatch(new RegExp(warning))
})
