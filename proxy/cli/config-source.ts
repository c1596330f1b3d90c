// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { existsSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import { type Problem, problemAt } from '../config/problem.ts'
import type { ConfigRequest } from '../router/checked-config.ts'
import type { CommandLine } from './command-line.ts'
import { chainAt, type FoundChain } from './find-chain.ts'
import type { CommandIo } from './validate.ts'

/** The config file of a command that names none. */
export const usualFile = 'config.yml'

/** Where a command finds its config, or why there is none. */
export type ConfigSource =
  Pick<ConfigRequest, 'configPath' | 'text' | 'flagOf'> | { readonly problem: Problem }

/** The config of a command: its file, else `--url`, else `SR_CONFIG`, else `./config.yml`. */
export async function findConfig(line: CommandLine, io: CommandIo): Promise<ConfigSource> {
  const { positionals, own } = line
  const [path] = positionals
  if (path && /^(?:https?|wss?|grpcs?):/i.test(path)) {
    const hint = 'Write --url before it.'
    return { problem: problemAt('', null, 'a URL is not a config file', hint) }
  }
  const flag = (['url', 'chain', 'interface'] as const).find((name) => own[name])
  if (flag && path !== undefined) {
    const hint = `Write it into ${path}, or leave the file out.`
    return { problem: problemAt(`--${flag}`, null, 'the flag replaces a config file', hint) }
  }
  if (flag) return configOfFlags(line, io)
  if (path === '-') return { configPath: 'stdin', text: await readAll(process.stdin) }
  const configPath = path ?? (io.environment['SR_CONFIG'] || usualFile)
  if (configPath !== usualFile || path || existsSync(usualFile)) return { configPath }
  const message = `there is no config: no argument, no SR_CONFIG, and no ${usualFile} in this folder`
  const hint =
    'Write one with router init, or serve without one: router --chain ETH1 --url https://eth.example.com/v2/KEY'
  return { problem: problemAt('', null, message, hint) }
}

/** The config that `--chain` and `--url` stand for. */
async function configOfFlags(line: CommandLine, io: CommandIo): Promise<ConfigSource> {
  const { url: urls, chain: [named] = [], interface: [through] = [] } = line.own
  if (urls === undefined) {
    const hint = `Such as --url https://eth.example.com/v2/KEY`
    return { problem: problemAt('--url', null, 'the URL of a node is missing', hint) }
  }
  const found = named === undefined ? await chainAt(urls, line.flags, io) : { id: named }
  if ('message' in found) return { problem: found }
  const { id: chainId, apiInterface }: Partial<FoundChain> = found
  const iface = through ?? apiInterface
  const upstreams = upstreamsOf(urls).map(([name, own]) => ({
    ...{ name, 'chain-id': chainId, ...(iface && { 'api-interface': iface }) },
    'node-urls': own,
  }))
  return { configPath: 'router', text: JSON.stringify({ 'direct-rpc': upstreams }), flagOf }
}

/** The flag that a path of the config comes from. */
export function flagOf(path: string): string {
  if (/chain-id$|^endpoints/.test(path)) return '--chain'
  // Only the interface can be missing from an upstream.
  if (/api-interface$|^direct-rpc\[\d+\]$/.test(path)) return '--interface'
  return path.startsWith('direct-rpc') ? '--url' : path
}

export const isSocket = (url: string) => /^wss?:/i.test(url)
const hostOf = (url: string) => URL.parse(url.replace(/^(?:grpc|ws)/i, 'http'))?.hostname ?? ''

/** One upstream per URL, except that a WebSocket URL joins an upstream on the same host. */
export function upstreamsOf(urls: readonly string[]): readonly [name: string, urls: string[]][] {
  const upstreams: [name: string, urls: string[]][] = []
  for (const url of urls.toSorted((a, b) => Number(isSocket(a)) - Number(isSocket(b)))) {
    const host = hostOf(url)
    const own = upstreams.find(([, each]) => !each.some(isSocket) && hostOf(each[0] ?? '') === host)
    // Takes `example` from `eth.example.com`, and `node` for an IP address.
    const [, name = 'node'] = /([a-z0-9-]+)\.[a-z][a-z0-9-]*$/.exec(host) ?? []
    if (isSocket(url) && own) own[1].push(url)
    else upstreams.push([`${name}-${upstreams.length + 1}`, [url]])
  }
  return upstreams
}
