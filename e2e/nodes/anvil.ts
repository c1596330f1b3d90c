// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Child, untilItServes } from '../processes/child-processes.ts'
import { askRpc } from '../processes/rpc-client.ts'
import type { NodeSite } from './node-site.ts'

/** Public key of the first account of every anvil. */
export const anvilKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** A real Ethereum node with HTTP and WebSocket on one port. */
export interface AnvilNode {
  readonly name: string
  readonly url: string
  readonly webSocketUrl: string
  readonly child: Child
}

export interface AnvilOptions {
  readonly name: string
  readonly port: number
  readonly chainId: number
  /** Nodes with the same genesis and the same blocks have the same hashes. Default: now. */
  readonly genesisSeconds?: number
  /**
   * Mines at each transaction, or also at an interval. Default: mines only on request.
   */
  readonly mining?: 'each-transaction' | { readonly everySeconds: number }
  readonly children: NodeSite['children']
  readonly signal: AbortSignal
}

/** Starts one anvil and waits until it answers. */
export async function startAnvil(options: AnvilOptions): Promise<AnvilNode> {
  const { name, port, chainId, genesisSeconds, children, signal } = options
  const child = await children.start({
    name,
    command: foundryProgram('anvil', import.meta.resolve('@foundry-rs/anvil/bin.mjs')),
    args: [
      ...['--port', String(port), '--chain-id', String(chainId), '--quiet'],
      ...(genesisSeconds === undefined ? [] : ['--timestamp', String(genesisSeconds)]),
      ...miningFlags(options.mining),
    ],
  })
  const url = `http://127.0.0.1:${port}`
  await untilItServes(
    child,
    signal,
    async () => Number(await askRpc<string>(url, 'eth_chainId')) === chainId,
  )
  return { name, url, webSocketUrl: `ws://127.0.0.1:${port}`, child }
}

function miningFlags(mining: AnvilOptions['mining']): string[] {
  if (mining === undefined) return ['--no-mining']
  if (mining === 'each-transaction') return []
  return ['--block-time', String(mining.everySeconds), '--mixed-mining']
}

/**
 * The program of a Foundry package, without its launcher, so that a kill reaches the program.
 * @param from a file that can import the platform builds of the package
 */
export function foundryProgram(name: string, from: string): string {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch
  const platform = `@foundry-rs/${name}-${process.platform}-${cpu}`
  try {
    const found = createRequire(from).resolve(`${platform}/package.json`)
    return join(dirname(found), 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  } catch (cause) {
    throw new Error(`${name} for this machine is missing: ${platform}. Get it with: npm ci`, {
      cause,
    })
  }
}
