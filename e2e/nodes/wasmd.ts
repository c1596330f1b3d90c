// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Child, untilItServes } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import type { NodeSite } from './node-site.ts'

/** A wasmd: a node of a hub chain with contracts and IBC. */
export interface WasmdNode {
  readonly name: string
  readonly restUrl: string
  /** Plaintext gRPC, with reflection. */
  readonly grpcAddress: string
  readonly tendermintUrl: string
  readonly webSocketUrl: string
  /** Address for peers: `ID@HOST:PORT`. */
  readonly peerAddress: string
  readonly child: Child
}

export interface WasmdOptions {
  readonly name: string
  /** Folder of the node, with its genesis. */
  readonly home: string
  /** Block time of a validator. */
  readonly blockMs: number
  /** Node to get blocks from. A validator needs none. */
  readonly peer?: WasmdNode
}

/** Starts wasmd and waits until its interfaces serve. */
export async function startWasmd(site: NodeSite, options: WasmdOptions): Promise<WasmdNode> {
  const { name, home, blockMs, peer } = options
  await setPace(home, blockMs)
  const [restPort, grpcPort, tendermintPort, peerPort] = await freePorts(4)
  const child = await site.children.start({
    name,
    command: site.cache.program('wasmd'),
    args: [
      ...['start', '--home', home, '--minimum-gas-prices', '0uatom', '--log_level', 'error'],
      ...['--api.enable', '--api.address', `tcp://127.0.0.1:${restPort}`],
      ...['--grpc.enable', '--grpc.address', `127.0.0.1:${grpcPort}`],
      ...['--rpc.laddr', `tcp://127.0.0.1:${tendermintPort}`, '--rpc.pprof_laddr', ''],
      ...['--p2p.laddr', `tcp://127.0.0.1:${peerPort}`, '--p2p.pex=false'],
      ...(peer ? ['--p2p.persistent_peers', peer.peerAddress] : []),
    ],
  })
  const restUrl = `http://127.0.0.1:${restPort}`
  const tendermintUrl = `http://127.0.0.1:${tendermintPort}`
  await untilItServes(child, site.signal, async () => {
    const latest = await fetch(`${restUrl}/cosmos/base/tendermint/v1beta1/blocks/latest`)
    await latest.arrayBuffer()
    return latest.ok
  })
  const { node_info } = await statusOf(tendermintUrl)
  return {
    name,
    restUrl,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    tendermintUrl,
    webSocketUrl: `ws://127.0.0.1:${tendermintPort}/websocket`,
    peerAddress: `${node_info.id}@127.0.0.1:${peerPort}`,
    child,
  }
}

export async function heightOf({
  tendermintUrl,
}: Pick<WasmdNode, 'tendermintUrl'>): Promise<number> {
  const { sync_info } = await statusOf(tendermintUrl)
  return Number(sync_info.latest_block_height)
}

interface Status {
  readonly node_info: { readonly id: string }
  readonly sync_info: { readonly latest_block_height: string }
}

async function statusOf(tendermintUrl: string): Promise<Status> {
  const response = await fetch(`${tendermintUrl}/status`)
  const { result } = (await response.json()) as { result: Status }
  return result
}

async function setPace(home: string, blockMs: number): Promise<void> {
  const file = join(home, 'config', 'config.toml')
  const settings = {
    timeout_commit: `"${blockMs}ms"`,
    // Peers on one machine share an address.
    addr_book_strict: 'false',
    allow_duplicate_ip: 'true',
  }
  let text = await readFile(file, 'utf8')
  for (const [name, value] of Object.entries(settings))
    text = text.replace(new RegExp(`^${name} = .*$`, 'm'), `${name} = ${value}`)
  await writeFile(file, text)
}
