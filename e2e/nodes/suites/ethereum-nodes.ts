// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { privateKeyToAddress } from 'viem/accounts'
import { freePort } from '../../processes/free-ports.ts'
import { askRpc } from '../../processes/rpc-client.ts'
import { anvilKey, startAnvil } from '../anvil.ts'
import { startGeth } from '../geth.ts'
import type { Ground } from './ground.ts'
import type { NodeUrl } from './routed.ts'

const genesisSeconds = 1_750_000_000
const oneThousandCoins = `0x${(1_000n * 10n ** 18n).toString(16)}`

/** A node of Ethereum's kind that makes a block for each transaction, and none otherwise. */
export interface EthereumNode {
  /** The chain that its router serves. */
  readonly chain: 'ETH1' | 'PERPEVM'
  /** What `eth_chainId` says. */
  readonly chainId: number
  readonly name: string
  /** As an upstream. */
  readonly url: NodeUrl
  readonly webSocketUrl: string
}

/** The nodes, by what they are; `anvilKey`'s account has coins on each of them. */
export const ethereumNodes = {
  anvil: async (ground: Ground) => anvilFor(ground, 'ETH1', 1),
  geth: async (ground: Ground): Promise<EthereumNode> => {
    const geth = await startGeth(ground, { name: 'geth', periodSeconds: 0 })
    const to = privateKeyToAddress(anvilKey)
    const transfer = { from: geth.account, to, value: oneThousandCoins }
    await askRpc(geth.url, 'eth_sendTransaction', [transfer])
    const url = {
      url: geth.url,
      addons: ['debug', 'archive'],
      // Its developer mode has a chain id of its own.
      'skip-verifications': ['*'],
    }
    return { ...geth, chain: 'ETH1', chainId: 1337, url }
  },
  'anvil as PERPEVM': async (ground: Ground) => anvilFor(ground, 'PERPEVM', 999),
} as const

async function anvilFor(
  ground: Ground,
  chain: EthereumNode['chain'],
  chainId: number,
): Promise<EthereumNode> {
  const name = `anvil-${chainId}`
  const mining = 'each-transaction'
  const port = await freePort()
  const anvil = await startAnvil({ ...ground, name, port, chainId, genesisSeconds, mining })
  return {
    ...anvil,
    chain,
    chainId,
    url: { url: anvil.url, addons: ['debug', 'trace', 'archive'] },
  }
}
