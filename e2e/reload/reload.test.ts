// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { eventually } from '../processes/eventually.ts'
import { freePort } from '../processes/free-ports.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { Program } from '../program/program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from '../program/workspace.ts'

const chain = createChainModel()
let workspace: Workspace
let nodes: SimNode[]
let program: Program
let file = ''
let good: Record<string, unknown>

beforeAll(async () => {
  workspace = await createWorkspace()
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
  const [address, admin] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const settings = { 'metrics-listen-address': admin, 'cache-bytes': 0 }
  good = { ...ethereumConfig(nodes.slice(0, 1), settings) }
  good['endpoints'] = [{ ...chainOf('ETH1'), 'network-address': address }]
  file = await workspace.write('router.yml', good)
  program = new Program([file], {}, admin)
  await program.logged('router started')
  await eventually(async () => (await answering()) === 'a')
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})

const chainOf = (chainId: string) => ({ 'chain-id': chainId, 'api-interface': 'jsonrpc' })

/** The name of the node that answers. */
async function answering(): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(program.urls[0] ?? '', { method: 'POST', headers, body })
  await response.json()
  return response.headers.get('rpc-provider-address') ?? `HTTP ${response.status}`
}

/** The router's status of its config. */
async function serving() {
  const page = (await (await fetch(`${program.adminUrl}/status`)).json()) as {
    config: { sha256: string; refused: { why: string; at: string } | null }
    upstreams: { name: string }[]
  }
  const { sha256, refused } = page.config
  return { sha256, refused, upstreams: page.upstreams.map(({ name }) => name).join() }
}

/** Waits until the router logs that it serves this config, or that it refuses the config. */
async function reloaded(from: number, served: string | null): Promise<string> {
  const lines = () => program.stdout.slice(from).split('\n').slice(0, -1)
  const sha256 = createHash('sha256')
    .update(served ?? '')
    .digest('hex')
  const isIt = (line: string) =>
    served === null
      ? line.includes('config refused')
      : line.includes('config reloaded') && line.includes(sha256)
  await expect.poll(() => lines().some(isIt)).toBe(true)
  return lines().join('\n')
}

/** Writes a config like an editor, and returns the router's log up to the outcome. */
async function put(
  config: unknown,
  outcome: 'served' | 'refused' = 'served',
  signal: 'SIGHUP' | null = 'SIGHUP',
): Promise<string> {
  const from = program.stdout.length
  const text = typeof config === 'string' ? config : stringify(config)
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
  if (signal) program.kill(signal)
  return reloaded(from, outcome === 'served' ? text : null)
}

const upstreamsOf = (...names: string[]) => ({
  ...good,
  'direct-rpc': nodes
    .filter(({ name }) => names.includes(name))
    .map(({ name, url }) => ({ name, ...chainOf('ETH1'), 'node-urls': [{ url }] })),
})

test('a provider serves after it is added to the file, and until it is removed', async () => {
  await put(upstreamsOf('a', 'b'), 'served', null)
  expect((await serving()).upstreams).toBe('a,b')
  await put(upstreamsOf('b'), 'served', null)
  expect((await serving()).upstreams).toBe('b')
  expect(await answering()).toBe('b')
  await put(upstreamsOf('a'))
})

test('the log format is reloaded, and SIGUSR2 switches to debug and back', async () => {
  const log = await put({ ...upstreamsOf('a'), 'log-format': 'text' })
  expect(log).toMatch(/INFO {2}config reloaded/)
  const from = program.stdout.length
  program.kill('SIGUSR2')
  await expect.poll(() => program.stdout.slice(from)).toContain('the log level is debug')
  await answering()
  await expect.poll(() => program.stdout.slice(from)).toMatch(/DEBUG .*request ended/)
  program.kill('SIGUSR2')
  await expect.poll(() => program.stdout.slice(from)).toContain('the log level is info')
  await put(upstreamsOf('a'))
})

test('new lists of methods apply to the running listener', async () => {
  const [endpoint] = good['endpoints'] as object[]
  await put({ ...good, endpoints: [{ ...endpoint, 'denied-methods': ['eth_block*'] }] })
  expect(await answering()).toBe('HTTP 200')
  await put(upstreamsOf('a'))
  expect(await answering()).toBe('a')
})

const other = () => (upstreamsOf('b') as { 'direct-rpc': object[] })['direct-rpc']

test.each<[string, () => unknown, string[]]>([
  ['broken YAML', () => 'endpoints: [', ['not valid YAML']],
  ['a missing file', () => null, ['there is no such file']],
  ['an unknown key', () => ({ ...upstreamsOf('b'), stratgy: 'latency' }), ['stratgy']],
  [
    'a variable that is not set',
    () => ({
      ...good,
      'direct-rpc': other().map((each) => ({
        ...each,
        'node-urls': [{ url: 'http://127.0.0.1:1/${KEY}' }],
      })),
    }),
    ['KEY'],
  ],
  [
    'a chain without a spec',
    () => ({
      ...good,
      'direct-rpc': [...other(), { ...other()[0], name: 'c', ...chainOf('NOCHAIN') }],
    }),
    ['NOCHAIN'],
  ],
  [
    'no upstream for a listener',
    () => ({ ...good, 'direct-rpc': [] }),
    ['no upstream of direct-rpc'],
  ],
  [
    'another port',
    () => ({
      ...upstreamsOf('b'),
      endpoints: [{ ...chainOf('ETH1'), 'network-address': '127.0.0.1:1' }],
    }),
    ['endpoints', 'Restart the router.'],
  ],
  [
    'a removed listener, and another chain',
    () => ({
      ...good,
      endpoints: [{ ...chainOf('HOODI'), 'network-address': '127.0.0.1:1' }],
      'direct-rpc': other().map((each) => ({ ...each, ...chainOf('HOODI') })),
    }),
    ['endpoints'],
  ],
  [
    'two changes at once, one of which needs a new process',
    () => ({ ...upstreamsOf('b'), 'drain-timeout': '1s', integrity: 'off' }),
    ['drain-timeout', 'integrity'],
  ],
])('with %s the one before goes on', async (_, config, words) => {
  const was = await serving()
  let lines = ''
  const content = config()
  if (content === null) {
    const from = program.stdout.length
    await rm(file)
    lines = await reloaded(from, null)
  } else lines = await put(content, 'refused')
  for (const word of words) expect(lines).toContain(word)
  const { refused, ...rest } = await serving()
  expect({ ...rest, refused: null }).toEqual(was)
  expect(refused?.why).toMatch(/^\d errors?, see the log$/)
  expect(await answering()).toBe('a')
  await put(upstreamsOf('a'))
  expect((await serving()).refused).toBe(null)
})

test('a config without usable upstreams does not stop a served chain', async () => {
  const was = await serving()
  const [gone] = other()
  const url = `http://127.0.0.1:${await freePort()}`
  await put({ ...good, 'direct-rpc': [{ ...gone, 'node-urls': [{ url }] }] }, 'refused')
  const { refused, ...rest } = await serving()
  expect({ ...rest, refused: null }).toEqual(was)
  expect(refused?.why).toBe('none of its upstreams for ETH1 jsonrpc can serve: see the log of each')
  expect(await answering()).toBe('a')
  await put(upstreamsOf('a'))
})

test('a change behind a symbolic link is detected, as in Kubernetes volumes', async () => {
  const data = (name: string) => join(workspace.directory, name)
  await writeFile(data('one.yml'), stringify(upstreamsOf('a')))
  await writeFile(data('two.yml'), stringify(upstreamsOf('b')))
  const link = async (target: string) => {
    const from = program.stdout.length
    await symlink(target, `${file}.link`)
    await rename(`${file}.link`, file)
    await reloaded(from, await readFile(file, 'utf8'))
  }
  await link('one.yml')
  await link('two.yml')
  expect(await answering()).toBe('b')
  await link('one.yml')
  expect(await answering()).toBe('a')
})

test('SIGHUP reads the files at once, even if they are unchanged', async () => {
  const from = program.stdout.length
  program.kill('SIGHUP')
  await expect.poll(() => program.stdout.slice(from)).toContain('"why":"SIGHUP"')
  expect(await answering()).toBe('a')
})
