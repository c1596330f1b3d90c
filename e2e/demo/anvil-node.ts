// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Child, ChildProcesses } from '../processes/child-processes.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { waitUntil } from '../processes/wait-until.ts'

const startTimeoutMs = 20_000

/** A real Ethereum node that mines only when it is told to. */
export interface AnvilNode {
  readonly name: string
  readonly url: string
  readonly child: Child
}

export interface AnvilOptions {
  readonly name: string
  readonly port: number
  readonly chainId: number
  /** Nodes with the same genesis and the same blocks have the same hashes. */
  readonly genesisSeconds: number
  readonly children: ChildProcesses
  readonly signal: AbortSignal
}

/** Starts one anvil and waits until it answers. */
export async function startAnvil(options: AnvilOptions): Promise<AnvilNode> {
  const { name, port, chainId, genesisSeconds, children, signal } = options
  const child = await children.start({
    name,
    command: anvilBinary(),
    args: [
      ...['--port', String(port), '--chain-id', String(chainId)],
      ...['--timestamp', String(genesisSeconds), '--no-mining', '--quiet'],
    ],
  })
  const url = `http://127.0.0.1:${port}`
  await waitUntil(`${name} answers on ${url}`, startTimeoutMs, signal, async () => {
    if (!child.alive) throw new Error(`${name} ended by itself:\n${child.tail()}`)
    return Number(await askRpc<string>(url, 'eth_chainId')) === chainId
  })
  return { name, url, child }
}

/** The program itself and not the package's launcher, so that a kill hits the node. */
function anvilBinary(): string {
  const launcher = import.meta.resolve('@foundry-rs/anvil/bin.mjs')
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch
  const platform = `@foundry-rs/anvil-${process.platform}-${cpu}`
  try {
    const found = createRequire(launcher).resolve(`${platform}/package.json`)
    return join(dirname(found), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (cause) {
    throw new Error(`anvil for this machine is missing: ${platform}. Get it with: npm ci`, {
      cause,
    })
  }
}
