// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../proxy/cli/main.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import type { Fault } from '../upstream-sim/faults.ts'
import { startSimNode, type SimNodeOptions } from '../upstream-sim/sim-node.ts'
import { freePort } from '../processes/free-ports.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

const key = 'canary-7c1e55d0a9'
const chain = createChainModel({ seed: 'doctor' })
const sepolia = createChainModel({ seed: 'another', chainId: 11_155_111 })
const noSpec = createChainModel({ seed: 'no spec', chainId: 424_242 })

interface Case {
  readonly node?: Partial<Omit<SimNodeOptions, 'name'>>
  readonly fault?: Fault
  /** Methods with the fault. Default: all. */
  readonly methods?: readonly string[]
  /** Config keys of the URL entry. */
  readonly entry?: Readonly<Record<string, unknown>>
  readonly scheme?: string
  /** A pattern for each advice line. */
  readonly advice: readonly (string | RegExp)[]
}

const says = (words: string) => [`change: ${words}`]
const archive = 'note: serves archive, which is not declared: add it to addons to have it used'
const traces = { debug_traceCall: () => ({}) }
const lacks = (method: string) =>
  `(method-not-found (code -32601: the method ${method} does not exist/is not available))`
const lacksDebug = lacks('debug_getRawHeader')

/** Nodes, and the advice about them. */
const cases: Readonly<Record<string, Case>> = {
  right: { entry: { addons: ['archive'] }, advice: [] },
  undeclared: { advice: [archive] },
  behind: {
    node: { lagBlocks: 120, earliestState: 1e9 },
    advice: says(
      'behind by 120 blocks: wait until it is in sync; other upstreams serve the latest blocks',
    ),
  },
  otherChain: {
    node: { chain: sepolia, earliestState: 1e9 },
    advice: says(
      'this answers Ethereum Sepolia (SEP1), not Ethereum Mainnet (ETH1) (expected 0x1, the node reported 0xaa36a7): correct the URL, or the chain-id of the upstream',
    ),
  },
  otherChainWithoutSpec: {
    node: { chain: noSpec, earliestState: 1e9 },
    advice: says(
      'this answers EVM chain 424242 (EVM-424242), not Ethereum Mainnet (ETH1) (expected 0x1, the node reported 0x67932): correct the URL, or the chain-id of the upstream',
    ),
  },
  refused: {
    fault: { kind: 'status', status: 401, body: 'html' },
    advice: says(
      'http-unauthorized (HTTP 401: not JSON: Bad Gateway): the key is refused: correct it, in the URL or in auth-config',
    ),
  },
  refusedInWords: {
    fault: { kind: 'error', code: -32_000, message: `Unauthorized: ${key} is no key` },
    advice: says(
      `unauthorized (code -32000: Unauthorized: ${'*'.repeat(key.length)} is no key): the key is refused: correct it, in the URL or in auth-config`,
    ),
  },
  path: {
    fault: { kind: 'status', status: 404, body: 'html' },
    advice: says(
      'http-not-found (HTTP 404: not JSON: Bad Gateway): nothing is served at this path: correct the path of the URL',
    ),
  },
  limited: {
    fault: { kind: 'rate-limit' },
    advice: says(
      'limit-of-requests (HTTP 429, code -32005: rate limit exceeded): it refuses more calls now: ask again later, or raise the plan at the provider',
    ),
  },
  limitedBeyond: {
    fault: { kind: 'rate-limit' },
    methods: ['debug_getRawHeader'],
    advice: [archive],
  },
  hangs: {
    fault: { kind: 'hang' },
    entry: { timeout: '200ms' },
    advice: says(
      'attempt-timeout (no answer in 200 ms): is the node overloaded, or a firewall between?',
    ),
  },
  noTls: {
    scheme: 'https',
    advice: says(
      'tls-failed (the server does not speak TLS, ERR_SSL_WRONG_VERSION_NUMBER): write http, ws or grpc instead of https, wss or grpcs',
    ),
  },
  lacks: {
    node: { earliestState: 1e9 },
    entry: { addons: ['debug', 'trace'] },
    advice: [
      `change: declares trace, does not serve it ${lacks('trace_block')}: remove the add-on`,
      `note: declares debug, does not show it ${lacksDebug}, and is used for it all the same`,
    ],
  },
  partly: {
    node: { methods: traces, earliestState: 1e9 },
    entry: { addons: ['debug'] },
    advice: [
      `note: declares debug, does not show it ${lacksDebug}, and is used for it all the same`,
    ],
  },
  pruned: {
    node: { earliestState: chain.head - 5_000 },
    entry: { addons: ['archive'] },
    advice: [
      /^change: declares archive, does not show it \(state-missing \(code -32000: missing trie node .{140,150}\)\), and is used for it all the same$/,
    ],
  },
}

interface ReceivedRequest {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

let workspace: Workspace
let all: ReceivedRequest
let right: ReceivedRequest
const open: AsyncDisposable[] = []

async function doctor(name: string, upstreams: readonly object[]) {
  const served = { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc', ...upstreams[0] }
  const { 'chain-id': chainId, 'api-interface': apiInterface } = served
  const listener = { 'network-address': '127.0.0.1:3360', 'chain-id': chainId }
  const file = await workspace.write(name, {
    endpoints: [{ ...listener, 'api-interface': apiInterface }],
    'direct-rpc': upstreams,
    'skip-websocket-verification': 'true',
  })
  const written = { stdout: '', stderr: '' }
  const code = await main(['doctor', file], {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    environment: { KEY: key },
  })
  return { code, ...written }
}

const upstream = (name: string, ...urls: readonly object[]) => ({
  ...{ name, 'chain-id': 'ETH1', 'api-interface': 'jsonrpc', 'node-urls': urls },
})

beforeAll(async () => {
  workspace = await createWorkspace()
  const upstreams = []
  for (const [name, { node, fault, methods, entry, scheme = 'http' }] of Object.entries(cases)) {
    const served = await startSimNode({ chain, name, ...node })
    open.push(served)
    if (fault) served.faults.add(fault, methods && { methods })
    upstreams.push(upstream(name, { url: `${scheme}${served.url.slice(4)}/\${KEY}`, ...entry }))
  }
  const good = await startSimNode({ chain, name: 'good', methods: {} })
  const gateway = http.createServer((_, response) => response.writeHead(401).end())
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  open.push(good, { [Symbol.asyncDispose]: async () => void gateway.close() })
  const { port } = gateway.address() as AddressInfo
  const urls = [{ url: good.url, addons: ['archive'] }, { url: good.url.replace('http', 'ws') }]
  const dead = `http://127.0.0.1:${await freePort()}`
  all = await doctor('all.yml', [
    ...upstreams,
    upstream('dead', { url: dead }),
    upstream('gateway', urls[0] as object, { url: `ws://127.0.0.1:${port}` }),
  ])
  right = await doctor('right.yml', [upstream('good', ...urls)])
})

afterAll(async () => {
  for (const each of open) await each[Symbol.asyncDispose]()
  await workspace[Symbol.asyncDispose]()
})

/** The advice lines under the row of an upstream's last URL. */
function adviceOn(name: string): readonly string[] {
  const lines = all.stdout.split('\n')
  const at = lines.findLastIndex((line) => new RegExp(`^(ok|CHANGE) +${name} `).test(line))
  expect(at).toBeGreaterThan(0)
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => !/^ {8}\S*all\.yml:\d+: /.test(line))
  return rest.slice(0, end).map((line) => line.replace(/^.*?all\.yml:\d+: /, ''))
}

test.each(Object.entries(cases))('%s', (name, { advice }) => {
  const expected = advice.map((each) =>
    typeof each === 'string' ? each : (expect.stringMatching(each) as string),
  )
  expect(adviceOn(name)).toEqual(expected)
})

test('the doctor reports a stopped node, and a WebSocket that a gateway refuses', () => {
  expect(adviceOn('dead')).toEqual(
    says(
      'connection-refused (ECONNREFUSED): nothing listens there: is the node up, are host and port right?',
    ),
  )
  expect(adviceOn('gateway')).toEqual(
    says(
      'protocol-violated (HTTP 401 instead of a WebSocket): the key is refused: correct it, in the URL or in auth-config',
    ),
  )
})

test('a necessary change gives exit code 1, and the line of the config', () => {
  expect([all.code, all.stderr]).toEqual([1, ''])
  expect(all.stdout).toMatch(/\n18 URLs asked, 13 to change\.\n$/)
  const [, line] = /all\.yml:(\d+): change: behind by 120/.exec(all.stdout) ?? []
  expect(Number(line)).toBeGreaterThan(10)
})

test('no key is printed', () => {
  expect(all.stdout + all.stderr).not.toContain(key)
})

test('without a necessary change the exit code is 0, and a table describes each URL', () => {
  expect([right.code, right.stderr]).toEqual([0, ''])
  const [titles, ...rows] = right.stdout.split('\n').map((line) => line.split(/ {2,}/))
  const shown = ['ok', 'good', 'ETH1 jsonrpc', expect.any(String), 'ok', '20000000']
  const measured = expect.stringMatching(/^[0-9.]+ms$/) as string
  expect(titles).toEqual(
    ',UPSTREAM,CHAIN,URL,CHAIN ID,HEIGHT,LATENCY,ARCHIVE,SUBSCRIBE,ADD-ONS'.split(','),
  )
  expect(rows).toEqual([
    [...shown, measured, 'all', '-', 'archive'],
    [...shown, measured, 'all', 'yes', 'archive'],
    [''],
    ['2 URLs asked, none to change.'],
    [''],
  ])
  expect(rows.map(([, , , url]) => url?.split(':')[0]).slice(0, 2)).toEqual(['http', 'ws'])
})

test('a failed probe with severity warning is only a note', async () => {
  let infos = 0
  const block = { block: { header: { height: '25000000', chain_id: 'cosmoshub-4' } } }
  const info = { default_node_info: { network: 'cosmoshub-4', other: { tx_index: 'on' } } }
  await using node = await new MirrorNode('hub', ({ target }, response) => {
    const isInfo = target.endsWith('/node_info')
    // The router requests the chain id first, and then the index.
    if (isInfo) infos += 1
    const status = isInfo && infos > 1 ? 500 : 200
    const type = status === 200 ? 'application/json' : 'text/html'
    response.writeHead(status, { 'content-type': type })
    response.end(status === 200 ? JSON.stringify(isInfo ? info : block) : '<p>no</p>')
  }).start()
  const hub = { ...upstream('hub', { url: node.url }), 'chain-id': 'HUBCHAIN' }
  const { code, stdout } = await doctor('hub.yml', [{ ...hub, 'api-interface': 'rest' }])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok +hub +HUBCHAIN rest +\S+ +ok /m)])
  expect(stdout).toMatch(/hub\.yml:\d+: note: tx-indexing: /)
})

test('the doctor prints the first block of a pruned node', async () => {
  const sync = { latest_block_height: '25000000', earliest_block_height: '24000000' }
  const network = { network: 'cosmoshub-4', other: { tx_index: 'on' } }
  const result = { node_info: network, sync_info: { ...sync, catching_up: false } }
  await using node = await new MirrorNode('hub', (_, response) => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
  }).start()
  const hub = { ...upstream('hub', { url: node.url }), 'chain-id': 'HUBCHAIN' }
  const { code, stdout } = await doctor('hub.yml', [{ ...hub, 'api-interface': 'tendermintrpc' }])
  expect(code).toBe(0)
  expect(stdout).toMatch(/hub\.yml:\d+: note: has pruned the blocks before 24000000\n/)
})

test('an invalid config is refused with its problems', async () => {
  const { code, stdout, stderr } = await doctor('wrong.yml', [upstream('a', { url: 'ftp://a' })])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('direct-rpc[0].node-urls[0].url')
})
