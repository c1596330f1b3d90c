// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../processes/eventually.ts'
import { type Program, runProgram } from '../program/program.ts'
import { createWorkspace, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import {
  ask,
  askAll,
  balance,
  callsAt,
  isAlive,
  killAndReplace,
  readPage,
  sampleOf,
  startWorkers,
  workersConfig,
  workersOf,
} from './workers.fixture.ts'

/*
 * `--workers`: several processes on one address behave as one router. The tests share one, in the
 * order of this file; `workers.slow.test.ts` has what takes longer.
 */

const timeoutMs = 60_000
const chain = createChainModel()
let workspace: Workspace
let nodes: SimNode[] = []
let config: Awaited<ReturnType<typeof workersConfig>>
let program: Program
let recording: string
beforeAll(async () => {
  workspace = await createWorkspace()
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
  recording = join(workspace.directory, 'calls.jsonl')
  config = await workersConfig(nodes)
  program = await startWorkers(workspace, config, ['--record', recording])
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await workspace[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
})

test('an address that another process has is refused before any worker starts', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { readonly port: number }
  const taken = await workersConfig(nodes)
  const endpoints = [{ ...taken.endpoints[0], 'listen-address': `127.0.0.1:${port}` }]
  const { code, stdout } = await runProgram([
    await workspace.write('taken.yml', { ...taken, endpoints, 'metrics-listen-address': 'off' }),
  ])
  other.close()
  expect(code).toBe(1)
  expect(stdout).toContain(`cannot listen on 127.0.0.1:${port}`)
})

test('one view: metrics, status, explain and top are those of all workers', async () => {
  const answers = await askAll(program, 60)
  expect(answers.every(({ result }) => result !== undefined)).toBe(true)
  expect(await sampleOf(program, 'router_requests_total{')).toBe(60)
  expect(await sampleOf(program, 'router_workers ')).toBe(3)
  expect(await sampleOf(program, 'router_config_info')).toBe(1)
  const status = JSON.parse((await readPage(program, '/status')).text) as object
  expect(status).toMatchObject({ listeners: [{ serving: 2, total: 2 }] })
  const guids = answers.map(({ headers }) => headers.get('rpc-guid') ?? '')
  for (const guid of guids.slice(0, 10))
    expect((await readPage(program, `/explain/${guid}`)).status).toBe(200)
  const listed = await readPage(program, '/explain?format=text')
  expect(guids.filter((guid) => listed.text.includes(guid))).toHaveLength(20)
  expect(listed.text).toMatch(/and \d+ more\n$/)
  const unknown = await readPage(program, '/explain/unknown')
  expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('no call has')])
  const top = await runProgram(['top', '--once', '--at', new URL(program.adminUrl).host])
  expect(top.stdout).toMatch(/ETH1 jsonrpc +2\/2/)
})

test('one memory: an answer serves every worker, and a session stays at its node', async () => {
  for (const { calls } of nodes) calls.clear()
  const same = balance('0x1')
  await ask(program, same)
  await askAll(program, 30, () => same)
  expect(callsAt(nodes, 'eth_getBalance')).toBe(1)
  const chosen = await askAll(program, 30, balance, { 'rpc-stickiness': 'a-session' })
  expect(new Set(chosen.map(({ upstream }) => upstream)).size).toBe(1)
})

test('a reload is applied by all workers or by none, also by one that replaces another', async () => {
  const upstreams = async () => {
    const { text } = await readPage(program, '/status')
    return (JSON.parse(text) as { upstreams: { name: string }[] }).upstreams.map(({ name }) => name)
  }
  const [first = 0] = await workersOf(program)
  const admin = { 'metrics-listen-address': new URL(program.adminUrl).host }
  const renamed = JSON.stringify({ ...admin, ...config }).replace('"name":"b"', '"name":"c"')
  await workspace.write('router.yml', renamed)
  program.kill('SIGHUP')
  // The replacement begins with the old config, and must not end up with it.
  await killAndReplace(program, first)
  await program.logged('config reloaded')
  expect(await upstreams()).toEqual(['a', 'c'])
  const answered = await askAll(program, 30)
  expect(answered.every(({ upstream }) => ['a', 'c'].includes(upstream ?? ''))).toBe(true)
  const nobody = renamed.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:9')
  await workspace.write('router.yml', nobody)
  await program.logged('config refused')
  expect(await upstreams()).toEqual(['a', 'c'])
  expect(await sampleOf(program, 'router_worker_restarts_total ')).toBe(1)
  expect(await workersOf(program)).toHaveLength(3)
})

test('a stop answers the calls in flight of every worker, and leaves no process', async () => {
  const pids = await workersOf(program)
  for (const { faults, calls } of nodes) {
    faults.add({ kind: 'slow', delayMs: 500 })
    calls.clear()
  }
  const pending = askAll(program, 20)
  const areThere = () => callsAt(nodes, 'eth_getBalance') >= 20
  await waitUntil('the calls are at the nodes', timeoutMs, undefined, areThere)
  program.kill('SIGTERM')
  const answers = await pending
  expect(answers.every(({ result }) => result !== undefined)).toBe(true)
  expect((await program.ended).code).toBe(0)
  expect(pids.filter(isAlive)).toEqual([])
})

test('all workers, a replacement among them, have recorded to one file', async () => {
  const lines = (await readFile(recording, 'utf8')).trim().split('\n')
  const methods = lines.map((line) => (JSON.parse(line) as { method: string }).method)
  expect(methods.filter((each) => each === 'eth_getBalance')).toHaveLength(60 + 31 + 30 + 30 + 20)
})
