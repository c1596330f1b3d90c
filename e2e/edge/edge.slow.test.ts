// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildGo } from '../processes/build-go.ts'
import { type Child, ChildProcesses, untilItServes } from '../processes/child-processes.ts'
import { freePort, freePorts } from '../processes/free-ports.ts'
import { startRouter } from '../processes/router-process.ts'
import { createWorkspace } from '../program/workspace.ts'
import { startAnvil } from '../nodes/anvil.ts'

/*
 * The proxies of examples/edge with their own files, in front of a router and an anvil. Only
 * addresses and certificates differ from the example.
 */

const folder = join(import.meta.dirname, '../../examples/edge')
const exampleOf = (name: string) => readFileSync(join(folder, name), 'utf8')
const { signal } = new AbortController()
const stack = new AsyncDisposableStack()
const workspace = stack.use(await createWorkspace())
const children = stack.use(new ChildProcesses(workspace.directory))
afterAll(() => stack.disposeAsync())

let routerAddress = ''
beforeAll(async () => {
  const node = await startAnvil({
    ...{ name: 'anvil', port: await freePort(), chainId: 1, children, signal },
    mining: 'each-transaction',
  })
  const { url } = await startRouter({
    ...{ children, directory: workspace.directory, signal, upstreams: [node] },
    settings: { 'skip-websocket-verification': true },
  })
  routerAddress = new URL(url).host
})

interface Edge {
  readonly port: number
  readonly child: Child
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

function ask(port: number, headers: Record<string, string>, method = 'POST'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: 'localhost', port, method, rejectUnauthorized: false }
    const sent = request(
      { ...options, headers: { 'content-type': 'application/json', ...headers } },
      (got) => {
        let body = ''
        got.on('data', (piece) => (body += piece))
        got.on('end', () => resolve({ status: got.statusCode ?? 0, headers: got.headers, body }))
      },
    )
    sent.on('error', reject).end(method === 'POST' ? call : undefined)
  })
}

async function startNginx(): Promise<Edge> {
  const [port] = await freePorts(1)
  const { directory } = workspace
  const openssl = 'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost'.split(' ')
  const [crt, key] = ['edge.crt', 'edge.key'].map((name) => join(directory, name))
  execFileSync('openssl', [...openssl, '-out', crt!, '-keyout', key!], { stdio: 'ignore' })
  await workspace.write('keys.map', exampleOf('keys.map').replace('replace-me', 'key-of-app'))
  const text = exampleOf('nginx.conf')
    .replace('events {}', `pid ${directory}/nginx.pid; daemon off; events {}`)
    .replace('127.0.0.1:3360', routerAddress)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/nginx/rpc.example.com.crt', crt!)
    .replace('/etc/nginx/rpc.example.com.key', key!)
    .replace('http {', `http { access_log off;`)
  const config = await workspace.write('nginx.conf', text)
  const args = ['-p', directory, '-c', config, '-e', 'stderr']
  return { port: port!, child: await children.start({ name: 'nginx', command: 'nginx', args }) }
}

async function startCaddy(): Promise<Edge> {
  const [port] = await freePorts(1)
  const { directory } = workspace
  const program = join(directory, 'caddy-with-limits')
  await buildGo({
    ...{ name: 'caddy', args: ['-C', join(import.meta.dirname, 'caddy'), '-o', program, '.'] },
    env: process.env,
    say: () => {},
  })
  const text = exampleOf('Caddyfile')
    .replace(
      '\n{\n',
      '\n{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tservers {\n\t\tprotocols h1 h2\n\t}\n',
    )
    .replace('rpc.example.com {', `https://localhost:${port} {\n\tbind 127.0.0.1`)
    .replace('127.0.0.1:3360', routerAddress)
    .replace('{$APP_KEY}', 'key-of-app')
    .replace('{$INDEXER_KEY}', 'key-of-indexer')
  const config = await workspace.write('Caddyfile', text)
  const command = 'env'
  const homes = ['HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME'].map((name) => `${name}=${directory}`)
  const args = [...homes, program, 'run', '--adapter', 'caddyfile', '--config', config]
  return { port: port!, child: await children.start({ name: 'caddy', command, args }) }
}

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
] as const)('%s', (_, start) => {
  let port: number
  beforeAll(async () => {
    const edge = await start()
    port = edge.port
    const serves = () => ask(port, {}).then(({ status }) => status === 401)
    await untilItServes(edge.child, signal, serves)
  }, 1_800_000)
  const app = { 'x-api-key': 'key-of-app' }

  test('refuses calls without a key, and with a wrong one', async () => {
    expect((await ask(port, {})).status).toBe(401)
    expect((await ask(port, { 'x-api-key': 'guessed' })).status).toBe(401)
  })

  test('passes on calls with a key, and the answer of the router', async () => {
    const { status, headers, body } = await ask(port, app)
    expect(status).toBe(200)
    expect(JSON.parse(body)).toEqual({ jsonrpc: '2.0', id: 1, result: '0x1' })
    expect(headers['rpc-guid']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('answers the preflight of a page', async () => {
    const origin = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' }
    const { status, headers } = await ask(port, origin, 'OPTIONS')
    expect(status).toBe(204)
    expect(headers['access-control-allow-origin']).toBe('https://app.example.com')
    expect(headers['access-control-allow-headers']).toContain('x-api-key')
    const answer = await ask(port, { ...app, ...origin })
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example.com')
    expect(answer.headers['access-control-expose-headers']).toContain('rpc-guid')
  })

  test('does not let a client choose a node', async () => {
    const { headers } = await ask(port, { ...app, 'rpc-providers-block': 'anvil' })
    expect(headers['rpc-provider-address']).toBe('anvil')
  })

  test('limits the calls of a key', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => ask(port, app)))
    const statuses = answers.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(90)
  })
})
