// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { type Child, type ChildProcesses, untilItServes } from './child-processes.ts'
import { freePorts } from './free-ports.ts'
import { routerConfig } from './router-config.ts'
import { askRpc } from './rpc-client.ts'

/** The bundled program, as released. */
export const routerEntry = fileURLToPath(new URL('../../bin/router.mjs', import.meta.url))

export interface RouterProcess {
  readonly child: Child
  readonly url: string
  /** URL of metrics and health. */
  readonly adminUrl: string
  readonly configFile: string
  readonly configText: string
  /** Time from the start of the process to its first answer from an upstream. */
  readonly firstAnswerMs: number
}

export interface RouterUpstream {
  readonly name: string
  readonly url: string
  readonly webSocketUrl?: string
}

export interface RouterOptions {
  readonly children: ChildProcesses
  readonly directory: string
  readonly upstreams: readonly RouterUpstream[]
  readonly signal: AbortSignal
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Flags for the router, such as `--strategy`. */
  readonly flags?: readonly string[]
  /** Starts it with `npx router`, as in a checkout. */
  readonly throughNpx?: boolean
  /** Settings of every upstream URL, such as `timeout`. */
  readonly urlSettings?: Readonly<Record<string, unknown>>
  /** Further keys of the config. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Name of the config file and of the process. Default: `router`. */
  readonly name?: string
}

/** Starts the router with a config file for ETH1, and waits for its first answer. */
export async function startRouter(options: RouterOptions): Promise<RouterProcess> {
  const { children, directory, upstreams, signal, flags = [] } = options
  const { name = 'router', env = {} } = options
  const [port, adminPort] = await freePorts(2)
  const nodes = upstreams.map(({ name, url, webSocketUrl }) => ({
    name,
    urls: [{ url, ...options.urlSettings }, ...(webSocketUrl ? [{ url: webSocketUrl }] : [])],
  }))
  const configText = stringify({
    ...routerConfig([{ chainId: 'ETH1', apiInterface: 'jsonrpc', port: port ?? 0, nodes }]),
    'metrics-listen-address': `127.0.0.1:${adminPort}`,
    'skip-websocket-verification': upstreams.every(({ webSocketUrl }) => !webSocketUrl),
    ...options.settings,
  })
  const configFile = join(directory, `${name}.yml`)
  await writeFile(configFile, configText)
  const startedMs = performance.now()
  const program = options.throughNpx
    ? { command: 'npx', args: ['--no', 'router'] }
    : { command: 'env', args: [...Object.entries(env).map((each) => each.join('=')), routerEntry] }
  const child = await children.start({
    name,
    command: program.command,
    args: [...program.args, configFile, ...flags],
  })
  const url = `http://127.0.0.1:${port}`
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const answers = async () => (await askRpc<string>(url, 'eth_chainId')) === '0x1'
  await untilItServes(child, signal, answers)
  const firstAnswerMs = performance.now() - startedMs
  return { child, url, adminUrl, configFile, configText, firstAnswerMs }
}
