// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainCatalog } from '../../chain/types.ts'

/** Chains of test nodes. The first also covers forks, which keep the id of the chain they fork. */
const testChains = ['ANVIL', 'GETH-DEV']
const testClients = /^(?:anvil|HardhatNetwork|Ganache|EthereumJS TestRPC)\//i

/**
 * Recognises a node whose state changes without a block, by its chain id or client.
 * @param ask returns the result of a method without params
 * @returns the test chain and what the node reported; null for any other node
 */
export async function testNodeOf(ask: (method: string) => Promise<unknown>, catalog: ChainCatalog) {
  const chainId = await ask('eth_chainId')
  if (typeof chainId !== 'string') return null
  const client = String(await ask('web3_clientVersion')).slice(0, 80)
  const chains = testChains.flatMap((id) => catalog.find(id) ?? [])
  const isOf = ({ interfaces }: Chain) =>
    interfaces.get('jsonrpc')?.verifications.some(({ expected }) => expected === chainId)
  const chain = chains.find(isOf) ?? (testClients.test(client) ? chains[0] : null)
  return chain ? { chain, words: `${client}, chain id ${chainId}` } : null
}
