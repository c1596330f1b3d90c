// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'

/** A folder for the files of a test. `await using` removes it. */
export interface Workspace extends AsyncDisposable {
  readonly directory: string
  /** Writes a file, from its text or from a config, and returns its path. */
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

/** A config for ETH1 over these nodes, which speak HTTP, in the form of the file. */
export function ethereumConfig(
  nodes: readonly NamedUrl[],
  settings: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    endpoints: [listenerOf('ETH1')],
    'direct-rpc': nodes.map((node) => upstreamOf('ETH1', node)),
    'skip-websocket-verification': true,
    ...settings,
  }
}

/** A listener on any free port. */
export function listenerOf(chainId: string) {
  return { 'network-address': '127.0.0.1:0', 'chain-id': chainId, 'api-interface': 'jsonrpc' }
}

export function upstreamOf(chainId: string, { name, url }: NamedUrl) {
  return { name, 'chain-id': chainId, 'api-interface': 'jsonrpc', 'node-urls': [{ url }] }
}
