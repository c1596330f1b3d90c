// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { privateKeyToAddress } from 'viem/accounts'
import { freePort } from '../../processes/free-ports.ts'
import { askRpc } from '../../processes/rpc-client.ts'
import { anvilKey, startAnvil } from '../anvil.ts'
import { startGeth } from '../geth.ts'
import type { Ground } from './ground.ts'
import type { NodeUrl } from '../../processes/router-config.ts'

const genesisSeconds = 1_750_000_000
const oneThousandCoins = `0x${(1_000n * 10n ** 18n).toString(16)}`

export interface EthereumNode {
  /** Chain in the router. */
  readonly chain: 'ETH1' | 'PERPEVM'
  readonly chainId: number
  readonly name: string
  /** URL entry of the upstream. */
  readonly url: NodeUrl
  readonly webSocketUrl: string
}

/**
 * `still`: one block per transaction, and no others. `moving`: a block every second, for clients
 * that wait for the next block.
 */
type Pace = 'still' | 'moving'

/** Nodes by program. The account of `anvilKey` has coins on each. */
export const ethereumNodes = {
  anvil: async (ground: Ground, pace: Pace) => anvilFor(ground, pace, 'ETH1', 1),
  geth: async (ground: Ground, pace: Pace): Promise<EthereumNode> => {
    const periodSeconds = pace === 'still' ? 0 : 1
    const geth = await startGeth(ground, { name: 'geth', periodSeconds })
    const to = privateKeyToAddress(anvilKey)
    const transfer = { from: geth.account, to, value: oneThousandCoins }
    await askRpc(geth.url, 'eth_sendTransaction', [transfer])
    const url = {
      url: geth.url,
      addons: ['debug', 'archive'],
      // The developer mode has a different chain id.
      'skip-verifications': ['*'],
    }
    return { ...geth, chain: 'ETH1', chainId: 1337, url }
  },
  'anvil as PERPEVM': async (ground: Ground, pace: Pace) => anvilFor(ground, pace, 'PERPEVM', 999),
} as const

async function anvilFor(
  ground: Ground,
  pace: Pace,
  chain: EthereumNode['chain'],
  chainId: number,
): Promise<EthereumNode> {
  const name = `anvil-${chainId}`
  const mining = pace === 'still' ? ('each-transaction' as const) : { everySeconds: 1 }
  const port = await freePort()
  const anvil = await startAnvil({ ...ground, name, port, chainId, genesisSeconds, mining })
  return {
    ...anvil,
    chain,
    chainId,
    url: { url: anvil.url, addons: ['debug', 'trace', 'archive'] },
  }
}
