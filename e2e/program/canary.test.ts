// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ByteBudget } from '../../proxy/bytes/byte-budget.ts'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { systemClock } from '../../proxy/clock/clock.ts'
import { privateSessions } from '../../proxy/sticky/testing/private-sessions.ts'
import { main } from '../../proxy/cli/main.ts'
import { serveChains } from '../../proxy/router/served-chain.ts'
import { parseConfig } from '../../proxy/config/parse.ts'
import { combineObservers } from '../../proxy/telemetry/observers.ts'
import { freePort } from '../processes/free-ports.ts'
import { routerConfig } from '../processes/router-config.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, type SimNodeOptions, startSimNode } from '../upstream-sim/sim-node.ts'
import { startProgram } from './program.ts'
import { createWorkspace, legOf, type Workspace } from './workspace.ts'

/** A key for each place that accepts one. All keys contain the same word. */
const word = 'cnry9f3'
const env = {
  KEY_PATH: `${word}path`,
  KEY_QUERY: `${word}query`,
  KEY_PASSWORD: `${word}password`,
  KEY_HEADER: `${word}header`,
  KEY_PARAM: `${word}param`,
  KEY_HOST: `${word}host`,
}

/** The word in any case, and as headers and URLs encode it. */
const traces = [
  word,
  ...[0, 1, 2].map((shift) =>
    Buffer.from(`${'x'.repeat(shift)}${word}`)
      .toString('base64')
      .slice(4, 11),
  ),
  Buffer.from(word).toString('hex'),
]
function tracesIn(text: string): string[] {
  return traces.filter((trace) => text.toLowerCase().includes(trace.toLowerCase()))
}

function upstream(name: string, origin: string, skipVerifications = true) {
  const [scheme, host] = origin.split('://')
  return {
    name,
    'chain-id': 'ETH1',
    'api-interface': 'jsonrpc',
    'node-urls': [
      {
        url: `${scheme}://me:\${KEY_PASSWORD}@${host}/v2/\${KEY_PATH}?q=$<KEY_QUERY>`,
        timeout: '1s',
        ...(skipVerifications ? { 'skip-verifications': ['*'] } : {}),
        'auth-config': {
          'auth-headers': { 'X-Key': 'Bearer ${KEY_HEADER}' },
          'auth-query': 'token=${KEY_PARAM}',
        },
      },
    ],
  }
}

const chain = createChainModel()
const asked = 'eth_gasPrice'
let workspace: Workspace
let nodes: Record<string, SimNode>
let config: Record<string, unknown>

beforeAll(async () => {
  workspace = await createWorkspace()
  const start = (name: string, more: Partial<SimNodeOptions> = {}) =>
    startSimNode({ chain, name, ...more })
  const answering = (text: string) => () => text
  nodes = {
    good: await start('good'),
    limited: await start('limited'),
    refusing: await start('refusing'),
    broken: await start('broken'),
    hanging: await start('hanging'),
    dying: await start('dying'),
    // A node may repeat its key in an answer to the router.
    gossip: await start('gossip', { methods: { eth_chainId: answering(env.KEY_PATH) } }),
  }
  const only = { methods: [asked] }
  nodes['limited']?.faults.add({ kind: 'rate-limit', retryAfter: 1 }, only)
  nodes['refusing']?.faults.add({ kind: 'status', status: 401, body: 'empty' }, only)
  nodes['broken']?.faults.add({ kind: 'reset', when: 'after-head' }, only)
  nodes['hanging']?.faults.add({ kind: 'hang' }, only)
  const origin = (name: string) => nodes[name]?.url ?? ''
  config = {
    ...routerConfig([legOf('ETH1', [])]),
    'direct-rpc': [
      ...Object.keys(nodes).map((name) => upstream(name, origin(name), name !== 'gossip')),
      upstream('down', `http://127.0.0.1:${await freePort()}`),
      upstream('no-tls', origin('good').replace('http:', 'https:')),
      upstream('no-name', 'http://${KEY_HOST}.invalid'),
      upstream('socket', origin('good').replace('http:', 'ws:')),
      upstream('no-socket', `ws://127.0.0.1:${await freePort()}`),
    ],
    // Without retries the router reports the failure of each upstream.
    'set-relay-retry-limit': 0,
  }
})
afterAll(async () => {
  await Promise.all(Object.values(nodes).map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})

/** The status of an answer, and its headers and body as text. */
async function printed(url: string, init?: RequestInit) {
  const response = await fetch(url, init)
  const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`
  return { status: response.status, text }
}

describe.each(['json', 'text'])('keys reach only the nodes, log as %s', (format) => {
  test('in a run with every kind of failure', async () => {
    for (const node of Object.values(nodes)) node.calls.clear()
    const flags = ['--log-level', 'debug', '--log-format', format]
    await using program = await startProgram(workspace, config, { env, flags })
    const [url = ''] = program.urls
    await expect
      .poll(async () => (await printed(`${program.adminUrl}/readyz`)).text)
      .toMatch(/7 of 12 upstreams serving.*gossip rejected/)
    const answers: Awaited<ReturnType<typeof printed>>[] = []
    const ask = async (headers: Record<string, string>, body: unknown) => {
      const all = { 'content-type': 'application/json', 'rpc-debug-relay': 'true', ...headers }
      answers.push(await printed(url, { method: 'POST', headers: all, body: JSON.stringify(body) }))
    }
    const call = { jsonrpc: '2.0', id: 1, method: asked }
    await nodes['dying']?.stop()
    for (const name of ['good', 'limited', 'refusing', 'broken', 'hanging', 'dying', 'socket'])
      await ask({ 'rpc-select-provider': name }, call)
    nodes['good']?.faults.add({ kind: 'invalid-json' }, { methods: [asked], times: 1 })
    await ask({ 'rpc-select-provider': 'good' }, call)
    await ask({ 'rpc-extension': 'archive' }, call)
    await ask({ 'rpc-select-provider': 'good' }, [call, { ...call, id: 2, method: '' }, 3])
    await ask({ 'rpc-relay-timeout': 'soon' }, call)
    for (const path of ['/health', '/nowhere']) answers.push(await printed(`${url}${path}`))
    await nodes['dying']?.start()
    expect(answers.map(({ status }) => status)).toEqual([
      ...[200, 429, 401, 502, 504, 502, 200],
      ...[502, 200, 200, 200],
      ...[200, 404],
    ])

    for (const path of [
      '/metrics',
      '/metrics/overall-health',
      '/readyz',
      '/livez',
      '/status',
      '/explain',
      '/explain?failed',
      '/explain?failed&format=text',
      '/explain?slow',
      '/nowhere',
    ])
      answers.push(await printed(`${program.adminUrl}${path}`))
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    expect(code).toBe(0)

    // The nodes must have received the keys, or the test would prove nothing.
    const [received] = nodes['good']?.calls.requests ?? []
    const { authorization = '', 'x-key': header } = received?.headers ?? {}
    const sent = `${received?.path} ${String(header)} ${atob(authorization.slice('Basic '.length))}`
    for (const name of [
      'KEY_PATH',
      'KEY_QUERY',
      'KEY_PASSWORD',
      'KEY_HEADER',
      'KEY_PARAM',
    ] as const)
      expect(sent).toContain(env[name])

    // The router masks a key that a node repeats.
    const masked = 'the node reported ****'
    for (const what of ['attempt ended', 'verification failed', 'request failed', masked])
      expect(stdout).toContain(what)
    expect(tracesIn(stdout)).toEqual([])
    expect(tracesIn(stderr)).toEqual([])
    for (const { text } of answers) expect(tracesIn(text)).toEqual([])
  })
})

/** Runs a command in this process. */
async function command(args: readonly string[]) {
  let output = ''
  const sink = { write: (text: string) => (output += text) }
  const code = await main(args, { stdout: sink, stderr: sink, environment: env })
  return { code, output }
}

test('the commands print no key, even if the config is invalid', async () => {
  const wrong = JSON.parse(JSON.stringify(config)) as typeof config
  const [first, second] = wrong['direct-rpc'] as { 'node-urls': Record<string, unknown>[] }[]
  first?.['node-urls'].push({ url: '${KEY_HOST}://${KEY_PATH}' })
  second?.['node-urls'].push({ url: 'http://a/', timeout: '${KEY_PARAM}' })
  const files = [
    await workspace.write('right.yml', config),
    await workspace.write('wrong.yml', wrong),
  ]
  const commands = [
    ...files.flatMap((file) => [
      ['validate', file],
      ['validate', file, '--output', 'json'],
    ]),
    [files[1] ?? ''],
    ['schema'],
  ]
  const ended = await Promise.all(commands.map((args) => command(args)))
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 2, 2, 2, 0])
  for (const { output } of ended) expect(tracesIn(output)).toEqual([])
})

test('an inspection of the wired objects prints no key', async () => {
  const parsed = parseConfig(JSON.stringify(config), { environment: env, flags: {} })
  const chains = serveChains(parsed.config!, {
    cache: null,
    catalog: await loadCatalog([]),
    clock: systemClock,
    random: seededRandom(1),
    version: 'under-test',
    observers: combineObservers([]),
    budget: new ByteBudget(Infinity),
    isDraining: () => false,
    sessions: privateSessions(systemClock),
  })
  const options = { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null }
  expect(tracesIn(inspect({ parsed, chains }, options))).toEqual([])
  expect(tracesIn(inspect({ parsed, chains }, { ...options, customInspect: false }))).toEqual([])
  for (const { pool } of chains) await pool.close()
})
