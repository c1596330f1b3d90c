// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { Child, ChildProcesses } from '../e2e/processes/child-processes.ts'
import { freePort, freePorts } from '../e2e/processes/free-ports.ts'
import { routerConfig } from '../e2e/processes/router-config.ts'
import { routerEntry, type RouterOptions, startRouter } from '../e2e/processes/router-process.ts'
import { askRpc } from '../e2e/processes/rpc-client.ts'
import { waitUntil } from '../e2e/processes/eventually.ts'
import { startRedis } from '../e2e/state/redis-process.fixture.ts'

const startTimeoutMs = 20_000

type RouterName = 'caching' | 'redis' | 'voting' | 'traced' | 'workers' | 'caching workers'

/** Names of the load targets. */
export type TargetName =
  'router' | 'nginx' | 'passthrough' | 'bare' | 'pair' | 'caching pair' | RouterName

/** A proxy between the load and the upstreams. */
export interface Target {
  readonly name: string
  readonly port: number
  /** A second port that gets half of the connections. */
  readonly otherPort?: number
  readonly child: Child
}

export interface Upstream {
  readonly name: string
  readonly url: string
}

interface Setting {
  readonly children: ChildProcesses
  readonly directory: string
  readonly signal: AbortSignal
}

/** Starts mock upstreams, each in a separate process. */
export async function startUpstreams(count: number, setting: Setting): Promise<Upstream[]> {
  const ports = await freePorts(count)
  return Promise.all(
    ports.map(async (port, at) => {
      const name = `mock-${at + 1}`
      await startScript(
        name,
        new URL('mock-upstream.ts', import.meta.url),
        [String(port)],
        port,
        setting,
      )
      return { name, url: `http://127.0.0.1:${port}` }
    }),
  )
}

const votes = {
  ...{ 'chain-id': 'ETH1', 'api-interface': 'jsonrpc', method: 'eth_getBalance' },
  ...{ 'agreement-threshold': 2, 'max-participants': { floor: 3 } },
}

const sampled = {
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.01',
}

/** Starters of routers with a cache, a Redis cache, cross-validation, or traces of 1 % of calls. */
export function routersWith(upstreams: readonly Upstream[], setting: Setting) {
  const start = async (name: RouterName, options: Pick<RouterOptions, 'settings' | 'env'>) => {
    const { child, url } = await startRouter({ ...setting, upstreams, name, ...options })
    return { name, port: Number(new URL(url).port), child }
  }
  const noCache = { 'cache-bytes': '0' }
  return {
    caching: () => start('caching', {}),
    workers: () => start('workers', { settings: { ...noCache, workers: 2 } }),
    'caching workers': () => start('caching workers', { settings: { workers: 2 } }),
    redis: async () => {
      const { address } = await startRedis(setting)
      // No answer fits into this much memory, so only Redis caches.
      const settings = { 'cache-bytes': '1KiB', 'resp-cache': { addresses: [address] } }
      return start('redis', { settings })
    },
    voting: () =>
      start('voting', { settings: { ...noCache, 'cross-validation': { policies: [votes] } } }),
    traced: async () => {
      // The bare server accepts any request as a trace export.
      const { port } = await startBareAnswer(setting)
      const env = { ...sampled, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
      return start('traced', { settings: noCache, env })
    },
  } satisfies Readonly<Record<RouterName, () => Promise<Target>>>
}

/**
 * Starts two separate routers with the name `pair`. They are children of one shell, since Linux
 * divides the CPU among sessions, and two of them would get twice what a router with workers gets.
 */
export async function startPair(
  name: 'pair' | 'caching pair',
  upstreams: readonly Upstream[],
  setting: Setting,
): Promise<Target> {
  const [port = 0, otherPort = 0] = await freePorts(2)
  const nodes = upstreams.map(({ name: node, url }) => ({ name: node, urls: [{ url }] }))
  const files = [port, otherPort].map(async (each) => {
    const leg = { chainId: 'ETH1', apiInterface: 'jsonrpc', port: each, nodes } as const
    const file = join(setting.directory, `pair-${each}.yml`)
    const config = {
      ...{ ...routerConfig([leg]), 'skip-websocket-verification': true },
      ...{ 'metrics-listen-address': `127.0.0.1:${await freePort()}` },
      ...(name === 'pair' ? { 'cache-bytes': '0' } : {}),
    }
    await writeFile(file, stringify(config))
    return file
  })
  const script = '"$0" "$1" & "$0" "$2" & wait'
  const args = ['-c', script, routerEntry, ...(await Promise.all(files))]
  const child = await setting.children.start({ name, command: 'sh', args })
  await ready({ name, port: otherPort, child }, setting.signal)
  return ready({ name, port, otherPort, child }, setting.signal)
}

/** Starts the bare node:http + undici proxy. */
export async function startPassthrough(
  upstreams: readonly Upstream[],
  setting: Setting,
): Promise<Target> {
  const port = await freePort()
  const args = [String(port), ...upstreams.map(({ url }) => url)]
  return startScript('passthrough', new URL('passthrough.ts', import.meta.url), args, port, setting)
}

/** Starts the bare node:http server. */
export async function startBareAnswer(setting: Setting): Promise<Target> {
  const port = await freePort()
  const script = new URL('bare-answer.ts', import.meta.url)
  return startScript('bare', script, [String(port)], port, setting)
}

/** Starts nginx with one worker, keep-alive connections to the upstreams and no access log. */
export async function startNginx(
  binary: string,
  upstreams: readonly Upstream[],
  setting: Setting,
): Promise<Target> {
  const port = await freePort()
  const prefix = join(setting.directory, 'nginx')
  await mkdir(prefix)
  await writeFile(join(prefix, 'nginx.conf'), nginxConfig(port, prefix, upstreams))
  const child = await setting.children.start({
    name: 'nginx',
    command: binary,
    args: ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', join(prefix, 'error.log')],
  })
  return ready({ name: 'nginx', port: port, child }, setting.signal)
}

export const canRun = (binary: string) => spawnSync(binary, ['-v']).status === 0

/** Finds nginx. @throws Error with instructions for its installation */
export function findNginx(binary: string): string {
  if (canRun(binary)) return binary
  throw new Error(
    `${binary} cannot be run. The benchmark compares with nginx: install it with ` +
      '"apt-get install nginx-light" (Debian, Ubuntu), name another with --nginx PATH, ' +
      'or leave it out with --without-nginx',
  )
}

async function startScript(
  name: string,
  script: URL,
  args: readonly string[],
  port: number,
  { children, signal }: Setting,
): Promise<Target> {
  const child = await children.start({
    name,
    command: process.execPath,
    args: [fileURLToPath(script), ...args],
  })
  return ready({ name, port, child }, signal)
}

async function ready(target: Target, signal: AbortSignal): Promise<Target> {
  const { name, port, child } = target
  await waitUntil(`${name} answers`, startTimeoutMs, signal, async () => {
    if (!child.alive) throw new Error(`${name} ended by itself:\n${child.tail()}`)
    return (await askRpc<string>(`http://127.0.0.1:${port}`, 'eth_chainId')) === '0x1'
  })
  return target
}

function nginxConfig(port: number, prefix: string, upstreams: readonly Upstream[]): string {
  const servers = upstreams.map(({ url }) => `    server ${new URL(url).host};`).join('\n')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(prefix, kind)};`)
    .join('\n')
  return `daemon off;
worker_processes 1;
pid ${join(prefix, 'nginx.pid')};
error_log ${join(prefix, 'error.log')};
events {
  worker_connections 1024;
}
http {
  access_log off;
  keepalive_requests 100000000;
${temporary}
  upstream nodes {
${servers}
    keepalive 64;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`
}
