// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePort } from '../processes/free-ports.ts'
import { routerConfig } from '../processes/router-config.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { footprintOf } from './footprint.ts'
import { type Program, startProgram } from './program.ts'
import { createWorkspace, ethereumConfig, legOf, type Workspace } from './workspace.ts'

const slowPoll = { interval: 20 }
const simEntry = fileURLToPath(new URL('../upstream-sim/main.ts', import.meta.url))
const chain = createChainModel()

let workspace: Workspace
let nodes: SimNode[]
beforeAll(async () => {
  workspace = await createWorkspace()
})
afterAll(() => workspace[Symbol.asyncDispose]())
beforeEach(async () => {
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
})
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

const readiness = async (program: Program) => {
  const response = await fetch(`${program.adminUrl}/readyz`)
  return `${response.status} ${await response.text()}`
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const balanceOf = (at: number) => [`0x${at.toString(16).padStart(40, '0')}`, '0x100']

test('a chain without live nodes starts unready with a reason, and becomes ready with the first', async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await using program = await startProgram(workspace, ethereumConfig(nodes))
  const [url = ''] = program.urls
  expect(await readiness(program)).toMatch(/^503 not ready: .*\nETH1 jsonrpc: dark, 0 of 2/)
  expect((await fetch(`${url}/health`)).status).toBe(503)
  const call = { jsonrpc: '2.0', id: 7, method: 'eth_chainId' }
  const reasons: unknown[] = []
  for (let each = 0; each < 3; each++) {
    const { status, body } = await post(url, call)
    expect({ status, body }).toMatchObject({ status: 503, body: { jsonrpc: '2.0', id: 7 } })
    reasons.push((body['error'] as { data: { reason: string } }).data.reason)
  }
  expect(reasons).toEqual(['no-upstream', 'no-upstream', 'breaker-open'])

  await nodes[1]?.start()
  await expect.poll(() => readiness(program), slowPoll).toMatch(/^200 ready\n.*1 of 2 upstreams/)
  expect(await post(url, call)).toEqual({
    status: 200,
    body: { jsonrpc: '2.0', id: 7, result: '0x1' },
  })
  expect((await fetch(`${program.adminUrl}/metrics/overall-health`)).status).toBe(200)
})

test('a chain without a usable upstream does not affect other chains', async () => {
  const [alive, dead] = nodes as [SimNode, SimNode]
  await dead.stop()
  await using program = await startProgram(workspace, {
    ...routerConfig([legOf('ETH1', [alive]), legOf('HOODI', [dead])]),
    'skip-websocket-verification': true,
  })
  const [eth1 = '', hoodi = ''] = program.urls
  await expect.poll(() => readiness(program), slowPoll).toContain('ETH1 jsonrpc: 1 of 1')
  expect(await readiness(program)).toContain('HOODI jsonrpc: dark, 0 of 1')
  expect(await askRpc(eth1, 'eth_chainId')).toBe('0x1')
  const { status } = await post(hoodi, { jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
  expect(status).toBe(503)
})

test('a node of another chain is not used', async () => {
  const stranger = await startSimNode({ chain: createChainModel({ chainId: 5 }), name: 'c' })
  nodes.push(stranger)
  await using program = await startProgram(workspace, ethereumConfig(nodes))
  await expect
    .poll(() => readiness(program), slowPoll)
    .toMatch(/^200 ready\n.*2 of 3 upstreams serving; c rejected/)
  stranger.calls.clear()
  for (let each = 0; each < 20; each++) await askRpc(program.urls[0] ?? '', 'eth_gasPrice')
  expect(stranger.calls.count('eth_gasPrice')).toBe(0)
})

test('/status has the hash of the config file, and the state of each upstream', async () => {
  await nodes[1]?.stop()
  await using program = await startProgram(workspace, ethereumConfig(nodes))
  const text = await readFile(join(workspace.directory, 'router.yml'))
  const sha256 = createHash('sha256').update(text).digest('hex')
  await expect
    .poll(async () => (await fetch(`${program.adminUrl}/status`)).json(), slowPoll)
    .toMatchObject({
      config: { sha256 },
      upstreams: [
        { chain: 'ETH1', interface: 'jsonrpc', name: 'a', tier: 'primary', state: 'eligible' },
        { name: 'b', state: 'unverified' },
      ],
    })
})

test('flags override SR_* variables, and the log format can be text', async () => {
  const env = { SR_LOG_FORMAT: 'text', SR_LOG_LEVEL: 'error', NODE: nodes[0]?.url ?? '' }
  const config = ethereumConfig([{ name: 'a', url: '${NODE}' }])
  const flags = ['--log-level', 'info']
  await using program = await startProgram(workspace, config, { env, flags })
  const [url = ''] = program.urls
  await expect.poll(() => readiness(program), slowPoll).toMatch(/^200/)
  expect(await askRpc(url, 'eth_chainId')).toBe('0x1')
  for (const line of program.stdout.trimEnd().split('\n'))
    expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z (INFO |WARN |ERROR) \S/)
})

test('the specs of --use-static-spec extend or replace the bundled ones', async () => {
  const spec = await workspace.write('specs.yml', {
    id: 'OWNCHAIN',
    name: 'A chain of our own',
    finality: 'finalized',
    family: 'evm',
    'block-time': '1s',
    'allowed-lag': 2,
    interfaces: {
      jsonrpc: { methods: { eth_chainId: { block: 'none' } } },
    },
  })
  const legs = [legOf('OWNCHAIN', nodes), legOf('ETH1', nodes)]
  await using program = await startProgram(workspace, routerConfig(legs), {
    flags: ['--use-static-spec', spec, '--skip-websocket-verification'],
  })
  await expect.poll(() => readiness(program), slowPoll).toContain('OWNCHAIN jsonrpc: 2 of 2')
  await expect.poll(() => readiness(program), slowPoll).toContain('ETH1 jsonrpc: 2 of 2')
  expect(await askRpc(program.urls[0] ?? '', 'eth_chainId')).toBe('0x1')
})

test('kill -9 of one of three nodes under load fails no request and corrupts no answer', async () => {
  await using children = new ChildProcesses(workspace.directory)
  const port = await freePort()
  const victim = await children.start({
    name: 'victim',
    command: process.execPath,
    args: [simEntry, '--nodes', '1', '--port', String(port)],
  })
  const third = { name: 'victim', url: `http://127.0.0.1:${port}` }
  await expect.poll(() => askRpc(third.url, 'eth_chainId').catch(String), slowPoll).toBe('0x1')
  await using program = await startProgram(workspace, ethereumConfig([...nodes, third]))
  const [url = ''] = program.urls
  await expect.poll(() => readiness(program), slowPoll).toContain('3 of 3')

  const answeredBy = new Map<string, number>()
  const wrong: string[] = []
  let requests = 0
  const client = async () => {
    while (requests < 500) {
      const id = ++requests
      if (id === 150) victim.kill('SIGKILL')
      const [address, block] = balanceOf(id)
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'eth_getBalance',
          params: [address, block],
        }),
      })
      const truth = `0x${chain.state.balance(address ?? '', 256).toString(16)}`
      const text = await response.text()
      if (text !== `{"jsonrpc":"2.0","id":${id},"result":"${truth}"}`) wrong.push(text)
      const by = response.headers.get('rpc-provider-address') ?? 'none'
      answeredBy.set(by, (answeredBy.get(by) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 12 }, client))
  expect(wrong).toEqual([])
  expect([...answeredBy.keys()].toSorted()).toEqual(['a', 'b', 'victim'])
  expect(victim.alive).toBe(false)
})

test.runIf(process.platform === 'linux')(
  'neither memory nor open files grow with requests',
  async () => {
    await using program = await startProgram(workspace, ethereumConfig(nodes))
    const [url = ''] = program.urls
    await expect.poll(() => readiness(program), slowPoll).toContain('2 of 2')
    nodes[0]?.faults.add({ kind: 'status', status: 500, body: 'html' }, { probability: 0.1 })
    nodes[0]?.faults.add({ kind: 'half-body', framing: 'chunked' }, { probability: 0.1 })
    const burst = async (count: number, atOnce: number) => {
      for (let left = count; left > 0; left -= atOnce)
        await Promise.all(
          Array.from({ length: atOnce }, (_, at) =>
            askRpc(url, 'eth_getBalance', balanceOf(left + at)),
          ),
        )
    }
    // The warm-up has the most concurrent requests, since pooled connections are no leak.
    await burst(400, 50)
    const before = footprintOf(program.pid)
    await burst(1_200, 20)
    const after = footprintOf(program.pid)
    expect(after.openFiles).toBeLessThanOrEqual(before.openFiles + 20)
    // A leak of 40 kB per request would be 48 MB for 1,200 requests.
    expect(after.residentBytes - before.residentBytes).toBeLessThan(40 * 1024 * 1024)
  },
)

test('a budget above the heap size logs a warning', async () => {
  const settings = { 'max-buffered-bytes': '64GiB' }
  await using program = await startProgram(workspace, ethereumConfig(nodes, settings))
  await program.logged('max-buffered-bytes is more than the heap of this process')
  await expect.poll(() => readiness(program), slowPoll).toContain('2 of 2')
})
