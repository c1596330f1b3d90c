// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Child, untilItServes } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { makeHome, type NodeSite } from './node-site.ts'

const modules = 'eth,net,web3,debug,txpool'

/** A geth in developer mode: a private chain with chain id 1337 and one rich account. */
export interface GethNode {
  readonly name: string
  readonly url: string
  readonly webSocketUrl: string
  readonly child: Child
  /** Rich account, for which `eth_sendTransaction` signs. */
  readonly account: string
}

export interface GethOptions {
  readonly name: string
  /** Block time; 0: one block per transaction, and no others. */
  readonly periodSeconds: number
  /** Flags such as `--gcmode archive`. A restart under the same name retains the blocks. */
  readonly flags?: readonly string[]
}

export async function startGeth(site: NodeSite, options: GethOptions): Promise<GethNode> {
  const { name, periodSeconds, flags = [] } = options
  const [port, webSocketPort, enginePort] = await freePorts(3)
  const home = await makeHome(site, name)
  const child = await site.children.start({
    name,
    command: site.cache.program('geth'),
    args: [
      ...['--dev', '--dev.period', String(periodSeconds), '--datadir', home],
      ...['--http', '--http.addr', '127.0.0.1', '--http.port', String(port)],
      ...['--http.api', modules],
      ...['--ws', '--ws.addr', '127.0.0.1', '--ws.port', String(webSocketPort)],
      ...['--ws.api', modules, '--ws.origins', '*'],
      ...['--authrpc.port', String(enginePort), '--ipcdisable'],
      ...['--port', '0', '--nodiscover', '--nat', 'none', '--maxpeers', '0'],
      ...flags,
    ],
  })
  const url = `http://127.0.0.1:${port}`
  await untilItServes(child, site.signal, async () => Boolean(await askRpc(url, 'eth_chainId')))
  const [account = ''] = await askRpc<string[]>(url, 'eth_accounts')
  return { name, url, webSocketUrl: `ws://127.0.0.1:${webSocketPort}`, child, account }
}
