// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type Leg, longEpoch, routerConfig } from '../processes/router-config.ts'

/** A folder for the files of a test. `await using` removes it. */
export interface Workspace extends AsyncDisposable {
  readonly directory: string
  /** Writes a text or a config to a file, and returns its path. */
  write(name: string, content: unknown): Promise<string>
}

export async function createWorkspace(): Promise<Workspace> {
  const directory = await mkdtemp(join(tmpdir(), 'rpc-router-program-test-'))
  return {
    directory,
    async write(name, content) {
      const path = join(directory, name)
      await writeFile(path, typeof content === 'string' ? content : stringify(content))
      return path
    },
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true })
    },
  }
}

interface NamedUrl {
  readonly name: string
  readonly url: string
}

/** A config for ETH1 with these HTTP nodes. */
export function ethereumConfig(
  nodes: readonly NamedUrl[],
  settings: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const leg = legOf('ETH1', nodes)
  // On a busy machine a node may need more than the default of one second.
  const usual = { 'epoch-duration': longEpoch(), 'min-relay-timeout': '20s' }
  return { ...routerConfig([leg]), 'skip-websocket-verification': true, ...usual, ...settings }
}

/** A chain with these nodes, which serve JSON-RPC over HTTP. */
export function legOf(chainId: string, nodes: readonly NamedUrl[]): Leg {
  const urlsOf = ({ name, url }: NamedUrl) => ({ name, urls: [{ url }] })
  return { chainId, apiInterface: 'jsonrpc', nodes: nodes.map(urlsOf) }
}
