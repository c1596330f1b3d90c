// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { waitUntil } from '../processes/eventually.ts'
import { freePort } from '../processes/free-ports.ts'
import { type Program, startProgram } from '../program/program.ts'
import { ethereumConfig, type Workspace } from '../program/workspace.ts'
import type { SimNode } from '../upstream-sim/sim-node.ts'

const timeoutMs = 60_000

/** Config of a router with workers on a free port. @param more further settings */
export async function workersConfig(nodes: readonly SimNode[], more: object = {}) {
  const config = ethereumConfig(nodes)
  const [endpoint] = config['endpoints'] as readonly object[]
  const address = `127.0.0.1:${await freePort()}`
  const endpoints = [{ ...endpoint, 'listen-address': address, 'network-address': undefined }]
  return { ...config, workers: 3, 'drain-timeout': '5s', endpoints, ...more }
}

/** Starts a router, and waits until all of its workers are ready. */
export async function startWorkers(
  workspace: Workspace,
  config: Readonly<Record<string, unknown>>,
  flags: readonly string[] = [],
): Promise<Program> {
  const program = await startProgram(workspace, config, { flags })
  await untilReady(program)
  return program
}

async function untilReady(program: Program): Promise<void> {
  const isReady = async () => {
    const { status, text } = await readPage(program, '/readyz')
    return status === 200 && !text.includes('answer')
  }
  await waitUntil('all workers are ready', timeoutMs, undefined, isReady)
}

/** Kills a worker, and waits until its replacement serves. */
export async function killAndReplace(program: Program, pid: number): Promise<void> {
  const back = 'a worker serves again'
  const before = program.stdout.split(back).length
  process.kill(pid, 'SIGKILL')
  const isBack = () => program.stdout.split(back).length > before
  await waitUntil('the worker is back', timeoutMs, undefined, isBack)
  await untilReady(program)
}

export async function readPage({ adminUrl }: Program, path: string) {
  const answer = await fetch(adminUrl + path)
  return { status: answer.status, text: await answer.text() }
}

/** Sum of the samples whose lines begin with `name`. */
export async function sampleOf(program: Program, name: string): Promise<number> {
  const { text } = await readPage(program, '/metrics')
  const lines = text.split('\n').filter((line) => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

let account = 0
/** A call for the balance of a fresh account, so that it is never cached. */
export const balance = (block = 'latest') => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'eth_getBalance' },
  params: [`0x${(account += 1).toString(16).padStart(40, '0')}`, block],
})

/** Sends a call on a connection of its own, so that any worker may get it. */
export async function ask({ urls }: Program, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(urls[0] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify(body),
  })
  const { result } = (await answer.json()) as { readonly result?: unknown }
  return { result, upstream: answer.headers.get('router-upstream'), headers: answer.headers }
}

/** Sends `count` requests at once. */
export function askAll(
  program: Program,
  count: number,
  body: () => object = balance,
  headers: Record<string, string> = {},
) {
  return Promise.all(Array.from({ length: count }, () => ask(program, body(), headers)))
}

export function callsAt(nodes: readonly SimNode[], method: string): number {
  return nodes.reduce((sum, { calls }) => sum + calls.count(method), 0)
}

/** The process ids of the workers. */
export async function workersOf({ pid }: Pick<Program, 'pid'>): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(pid)])
  return stdout.trim().split('\n').map(Number)
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
