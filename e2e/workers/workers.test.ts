// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../processes/eventually.ts'
import { freePort } from '../processes/free-ports.ts'
import { type Program, runProgram, startProgram } from '../program/program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'

/* `--workers`: several processes on one address behave as one router. */

const chain = createChainModel()
const timeoutMs = 60_000
let workspace: Workspace
let nodes: SimNode[] = []
beforeAll(async () => {
  workspace = await createWorkspace()
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
})
afterAll(async () => {
  await workspace[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
})

async function configOf(more: object = {}) {
  const [endpoint] = ethereumConfig(nodes)['endpoints'] as readonly object[]
  const address = `127.0.0.1:${await freePort()}`
  const endpoints = [{ ...endpoint, 'listen-address': address, 'network-address': undefined }]
  return { ...ethereumConfig(nodes), workers: 3, 'drain-timeout': '5s', endpoints, ...more }
}

async function start(more: object = {}, flags: readonly string[] = []): Promise<Program> {
  return startWith(await configOf(more), flags)
}

async function startWith(
  config: Awaited<ReturnType<typeof configOf>>,
  flags: readonly string[] = [],
) {
  const program = await startProgram(workspace, config, { flags })
  const ready = async () => (await read(program, '/readyz')).status === 200
  await waitUntil('all workers are ready', timeoutMs, undefined, ready)
  return program
}

async function read({ adminUrl }: Program, path: string) {
  const answer = await fetch(adminUrl + path)
  return { status: answer.status, text: await answer.text() }
}

let account = 0
/** A call for the balance of an account that no other call names. @param block of its state */
const balance = (block = 'latest') => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'eth_getBalance' },
  params: [`0x${(account += 1).toString(16).padStart(40, '0')}`, block],
})

/** Sends a call on a connection of its own, so that any worker may get it. */
async function ask({ urls }: Program, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(urls[0] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify(body),
  })
  const { result } = (await answer.json()) as { readonly result?: unknown }
  return { result, upstream: answer.headers.get('router-upstream'), headers: answer.headers }
}

/** The process ids of the workers. */
async function workersOf({ pid }: Program): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(pid)])
  return stdout.trim().split('\n').map(Number)
}

function sample(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

test('one view: metrics, status, explain and top are those of all workers', async () => {
  await using program = await start()
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask(program, balance())))
  expect(answers.every(({ result }) => result !== undefined)).toBe(true)
  const { text } = await read(program, '/metrics')
  expect(sample(text, 'router_requests_total{')).toBe(60)
  expect([sample(text, 'router_workers '), sample(text, 'router_config_info')]).toEqual([3, 1])
  const status = JSON.parse((await read(program, '/status')).text) as object
  expect(status).toMatchObject({ listeners: [{ serving: 2, total: 2 }] })
  const guids = answers.map(({ headers }) => headers.get('rpc-guid') ?? '')
  for (const guid of guids.slice(0, 10))
    expect((await read(program, `/explain/${guid}`)).status).toBe(200)
  const listed = await read(program, '/explain?format=text')
  expect(guids.filter((guid) => listed.text.includes(guid))).toHaveLength(20)
  expect(listed.text).toMatch(/and 4\d more\n$/)
  const top = await runProgram(['top', '--once', '--at', new URL(program.adminUrl).host])
  expect(top.stdout).toMatch(/ETH1 jsonrpc +2\/2/)
})

test('one memory: an answer serves every worker, and a session stays at its node', async () => {
  await using program = await start()
  for (const { calls } of nodes) calls.clear()
  const same = balance('0x1')
  await ask(program, same)
  await Promise.all(Array.from({ length: 30 }, () => ask(program, same)))
  expect(nodes.reduce((sum, { calls }) => sum + calls.count('eth_getBalance'), 0)).toBe(1)
  const session = { 'rpc-stickiness': 'a-session' }
  const chosen = await Promise.all(
    Array.from({ length: 30 }, () => ask(program, balance(), session)),
  )
  expect(new Set(chosen.map(({ upstream }) => upstream)).size).toBe(1)
})

test('a worker that is killed is replaced, and the others lose nothing', async () => {
  await using program = await start()
  const [first = 0] = await workersOf(program)
  process.kill(first, 'SIGKILL')
  await program.logged('a worker serves again')
  await waitUntil('all workers are ready', timeoutMs, undefined, async () => {
    return (await read(program, '/readyz')).status === 200
  })
  expect(await workersOf(program)).toHaveLength(3)
  expect(sample((await read(program, '/metrics')).text, 'router_worker_restarts_total ')).toBe(1)
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask(program, balance())))
  expect(answers.every(({ result }) => result !== undefined)).toBe(true)
})

test('a worker that keeps dying ends the router with exit code 1', async () => {
  await using program = await start({ workers: 2 })
  const [other = 0] = await workersOf(program)
  for (let death = 1; death <= 5; death++) {
    const dying = (await workersOf(program)).find((pid) => pid !== other) ?? 0
    process.kill(dying, 'SIGKILL')
    if (death === 5) break
    const again = () => program.stdout.split('a worker serves again').length > death
    await waitUntil(`the worker is back after death ${death}`, timeoutMs, undefined, again)
  }
  expect((await program.ended).code).toBe(1)
  expect(program.stdout).toContain('ended 5 times within a minute')
})

test('a reload is applied by all workers or by none', async () => {
  const config = await configOf()
  await using program = await startWith(config)
  const upstreams = async () => {
    const { text } = await read(program, '/status')
    return (JSON.parse(text) as { upstreams: { name: string }[] }).upstreams.map(({ name }) => name)
  }
  const admin = { 'metrics-listen-address': new URL(program.adminUrl).host }
  const renamed = JSON.stringify({ ...admin, ...config }).replace('"name":"b"', '"name":"c"')
  await workspace.write('router.yml', renamed)
  await program.logged('config reloaded')
  expect(await upstreams()).toEqual(['a', 'c'])
  const nobody = renamed.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:9')
  await workspace.write('router.yml', nobody)
  await program.logged('config refused')
  expect(await upstreams()).toEqual(['a', 'c'])
  // A worker that starts now gets the config that the others serve.
  const [first = 0] = await workersOf(program)
  process.kill(first, 'SIGKILL')
  await program.logged('a worker serves again')
  await waitUntil('all workers are ready', timeoutMs, undefined, async () => {
    return (await read(program, '/readyz')).status === 200
  })
  expect(await upstreams()).toEqual(['a', 'c'])
})

test('a stop answers the calls in flight of every worker, and leaves no process', async () => {
  await using program = await start()
  const pids = await workersOf(program)
  for (const { faults, calls } of nodes) {
    faults.add({ kind: 'slow', delayMs: 500 })
    calls.clear()
  }
  const pending = Array.from({ length: 20 }, () => ask(program, balance()))
  const asked = () => nodes.reduce((sum, { calls }) => sum + calls.count('eth_getBalance'), 0)
  await waitUntil('the calls are at the nodes', timeoutMs, undefined, () => asked() >= 20)
  program.kill('SIGTERM')
  const answers = await Promise.all(pending)
  for (const { faults } of nodes) faults.clear()
  expect(answers.every(({ result }) => result !== undefined)).toBe(true)
  expect((await program.ended).code).toBe(0)
  expect(pids.filter((pid) => isAlive(pid))).toEqual([])
})

test('all workers record to one file', async () => {
  const file = join(workspace.directory, 'calls.jsonl')
  await using program = await start({}, ['--record', file])
  await Promise.all(Array.from({ length: 40 }, () => ask(program, balance())))
  program.kill('SIGTERM')
  await program.ended
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { method: string }).method)).toHaveLength(40)
})

test('an address that another process has is refused before any worker starts', async () => {
  const config = await configOf()
  const address = new URL(`http://${String(config.endpoints[0]?.['listen-address'])}`)
  const other = createServer().listen(Number(address.port), '127.0.0.1')
  const file = await workspace.write('taken.yml', config)
  const { code, stdout } = await runProgram([file])
  other.close()
  expect(code).toBe(1)
  expect(stdout).toContain(`cannot listen on ${address.host}`)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
