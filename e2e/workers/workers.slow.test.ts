// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ReplyCollector } from '../../bench/http-reply.ts'
import { waitUntil } from '../processes/eventually.ts'
import { type Program, runProgram } from '../program/program.ts'
import { createWorkspace, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import {
  askAll,
  balance,
  callsAt,
  killAndReplace,
  sampleOf,
  startWorkers,
  workersConfig,
  workersOf,
} from './workers.fixture.ts'

/* What `--workers` promises under load and over minutes. Linux only: it reads /proc. */

const chain = createChainModel()
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

const start = async (more: object = {}) =>
  startWorkers(workspace, await workersConfig(nodes, { workers: 4, ...more }))

/** A client with one connection, which reads at a steady rate, and reconnects once it is lost. */
class Client {
  readonly #port: number
  #socket: Socket | null = null
  /** Why the last read failed. */
  #why = ''
  answered = 0
  /** Local ports of connections that were lost, with the number of reads that failed on each. */
  readonly lost = new Map<number, number>()

  constructor({ urls }: Program) {
    this.#port = Number(new URL(urls[0] ?? '').port)
  }

  get localPort(): number {
    return this.#socket?.localPort ?? 0
  }

  /** Sends a read until it is answered, at most twice. */
  async read(): Promise<void> {
    if (await this.#once()) return
    const why = this.#why
    // The kernel may still queue connections for a killed worker until its process has ended.
    await sleep(500)
    if (await this.#once()) return
    throw new Error(`a client that reconnected lost a read: ${why}, then ${this.#why}`)
  }

  async #once(): Promise<boolean> {
    const socket = await this.#connected()
    const { localPort = 0 } = socket
    const body = JSON.stringify(balance())
    const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
    const replies = new ReplyCollector()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const read = (chunk: Buffer) => {
      const reply = replies.push(chunk)
      if (!reply) return
      this.#why = reply.body.toString()
      resolve(reply.status === 200 && reply.body.includes('"result"'))
    }
    const end = (error: unknown) => {
      this.#why = `${String(error)} on port ${localPort}`
      resolve(false)
    }
    socket.on('data', read).once('close', end).on('error', end)
    socket.write(`${head}\r\n\r\n${body}`)
    const isAnswered = await promise
    socket.off('data', read).off('close', end).off('error', end)
    if (isAnswered) this.answered += 1
    else {
      this.lost.set(localPort, (this.lost.get(localPort) ?? 0) + 1)
      socket.destroy()
      this.#socket = null
    }
    return isAnswered
  }

  /** The open connection; reconnects if it was lost between two reads. */
  async #connected(): Promise<Socket> {
    while (!this.#socket || this.#socket.destroyed) {
      const socket = connect({ port: this.#port, host: '127.0.0.1' }).on('error', () => {})
      const isOpen = await new Promise((resolve) =>
        socket.once('connect', () => resolve(true)).once('close', () => resolve(false)),
      )
      if (isOpen) this.#socket = socket
      else await sleep(20)
    }
    return this.#socket
  }

  close(): void {
    this.#socket?.destroy()
  }
}

/** The remote ports of the connections that a process has. */
function portsOf(pid: number): ReadonlySet<number> {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      } catch {
        return undefined
      }
    }),
  )
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').trim().split('\n').slice(1)
  const rows = lines.map((line) => line.trim().split(/\s+/)).filter((row) => inodes.has(row[9]))
  return new Set(rows.map((row) => parseInt(row[2]?.split(':')[1] ?? '', 16)))
}

/** Reads at `perSecond` over all clients until `stop` resolves. Rejects if a client loses one. */
async function readUntil(clients: readonly Client[], perSecond: number, stop: Promise<unknown>) {
  let isOver = false
  void stop.finally(() => (isOver = true))
  const loops = clients.map(async (client) => {
    while (!isOver) {
      await client.read()
      await sleep((1_000 * clients.length) / perSecond)
    }
  })
  await Promise.all([stop, ...loops])
}

test(
  '50 workers are killed under 200 reads a second: only their own connections fail',
  { timeout: 900_000 },
  async () => {
    await using program = await start({ workers: 8 })
    const clients = Array.from({ length: 40 }, () => new Client(program))
    const killed = new Set<number>()
    const kills = async () => {
      await sleep(1_000)
      for (let death = 0; death < 50; death++) {
        const alive = await workersOf(program)
        // The eldest has the lowest number, so no worker dies five times within a minute.
        const [pid = 0] = alive.toSorted((a, b) => a - b)
        for (const port of portsOf(pid)) killed.add(port)
        await killAndReplace(program, pid)
        await sleep(1_500)
      }
    }
    await readUntil(clients, 200, kills())
    const lost = clients.flatMap((each) => [...each.lost])
    expect(lost.filter(([port]) => !killed.has(port))).toEqual([])
    expect(lost.length).toBeGreaterThan(0)
    // At most the one read in flight on each connection.
    expect(lost.every(([, reads]) => reads === 1)).toBe(true)
    expect(clients.reduce((sum, each) => sum + each.answered, 0)).toBeGreaterThan(2_000)
    for (const each of clients) each.close()
  },
)

test('a worker that keeps dying ends the router with exit code 1', async () => {
  await using program = await start({ workers: 2 })
  const [other = 0] = await workersOf(program)
  for (let death = 1; death <= 5; death++) {
    const dying = (await workersOf(program)).find((pid) => pid !== other) ?? 0
    if (death < 5) await killAndReplace(program, dying)
    else process.kill(dying, 'SIGKILL')
  }
  expect((await program.ended).code).toBe(1)
  expect(program.stdout).toContain('ended 5 times within a minute')
})

test('a frozen worker is named, killed after 10 s and replaced; the others stay', async () => {
  await using program = await start({ workers: 2 })
  const [frozen = 0, healthy = 0] = await workersOf(program)
  process.kill(frozen, 'SIGSTOP')
  const top = () => runProgram(['top', '--once', '--at', new URL(program.adminUrl).host])
  const isNamed = async () => (await top()).stdout.includes('clients wait until it is killed')
  await waitUntil('top names the frozen worker', 9_000, undefined, isNamed)
  expect(await sampleOf(program, 'router_workers ')).toBe(1)
  await program.logged('a worker does not answer, and is killed')
  await program.logged('a worker serves again')
  expect(await workersOf(program)).toContain(healthy)
  expect(await workersOf(program)).not.toContain(frozen)
  expect(await sampleOf(program, 'router_workers ')).toBe(2)
  expect(await sampleOf(program, 'router_worker_restarts_total ')).toBe(1)
  expect((await askAll(program, 20)).every(({ result }) => result !== undefined)).toBe(true)
  // Silence of a healthy worker would end it by now.
  await sleep(12_000)
  expect(await sampleOf(program, 'router_worker_restarts_total ')).toBe(1)
})

test('a worker that dies during its start is replaced', async () => {
  const config = await workersConfig(nodes, { workers: 2 })
  const { promise, resolve } = Promise.withResolvers<number>()
  const starting = startWorkers(workspace, config)
  // Nothing reports its pid during the start, so the test scans all processes.
  const file = `${workspace.directory}/router.yml`
  const poll = setInterval(() => {
    const found = processesWith(file).filter(({ isWorker }) => isWorker)
    if (found.length === 2) resolve(Math.max(...found.map(({ pid }) => pid)))
  }, 5)
  const second = await promise
  clearInterval(poll)
  process.kill(second, 'SIGKILL')
  await using program = await starting
  expect(await workersOf(program)).toHaveLength(2)
  expect(program.stdout).toContain('a worker ended, and is replaced')
  expect((await askAll(program, 20)).every(({ result }) => result !== undefined)).toBe(true)
})

function processesWith(argument: string) {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const words = readFileSync(`/proc/${Number(name)}/cmdline`, 'latin1').split('\0')
      const isWorker = words.some((word) => word.startsWith('--max-old-space-size'))
      return words.includes(argument) ? [{ pid: Number(name), isWorker }] : []
    } catch {
      return []
    }
  })
}

test('200 connections to 4 workers: sessions, cached answers and equal calls are those of one', async () => {
  await using program = await start()
  for (const { calls } of nodes) calls.clear()
  const same = balance('0x1')
  const answers = await askAll(program, 200, () => same)
  expect(new Set(answers.map(({ result }) => result)).size).toBe(1)
  // Equal calls at once, none of which was cached.
  expect(callsAt(nodes, 'eth_getBalance')).toBe(1)
  for (let session = 0; session < 5; session++) {
    const headers = { 'rpc-stickiness': `session-${session}` }
    const chosen = await askAll(program, 40, balance, headers)
    expect(new Set(chosen.map(({ upstream }) => upstream)).size).toBe(1)
  }
})

test.each([1, 4])(
  'providers with a rate limit, behind %s workers, are asked within it',
  async (workers) => {
    const perSecond = 40
    const refused = { code: -32005, message: 'rate limit exceeded' }
    const seen = nodes.map(({ faults }) => {
      const counts = new Map<number, number>()
      const forge = ({ id }: { readonly id: unknown }) => {
        const second = Math.floor(performance.now() / 1_000)
        const count = (counts.get(second) ?? 0) + 1
        counts.set(second, count)
        return count > perSecond ? JSON.stringify({ jsonrpc: '2.0', id, error: refused }) : null
      }
      faults.add({ kind: 'forged', forge }, { methods: ['eth_getBalance'] })
      return counts
    })
    await using program = await start({ workers, 'cache-bytes': 0 })
    const untilMs = performance.now() + 20_000
    while (performance.now() < untilMs) {
      void askAll(program, 12).catch(() => {})
      await sleep(100)
    }
    await sleep(1_000)
    for (const { faults } of nodes) faults.clear()
    const total = seen.flatMap((each) => [...each.values()])
    const over = total.reduce((sum, count) => sum + Math.max(0, count - perSecond), 0)
    const all = total.reduce((sum, count) => sum + count, 0)
    process.stdout.write(`${workers} workers: ${all} calls, ${over} refused\n`)
    expect(over / all).toBeLessThan(0.1)
    expect(all).toBeGreaterThan(20 * perSecond)
  },
)

test('each further worker takes at most 70 MB when idle', async () => {
  await using program = await start({ workers: 3 })
  await sleep(5_000)
  const pss = (await workersOf(program)).map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1]) * 1_024
  })
  process.stdout.write(`PSS: ${pss.map((bytes) => Math.round(bytes / 1e6)).join(', ')} MB\n`)
  expect(Math.max(...pss)).toBeLessThan(70e6)
})

test('auto is the CPU limit of the control group, as docker run --cpus sets it', async () => {
  // A mount namespace shows the files of a container to Node.js; only root may create one.
  const { directory } = workspace
  await mkdir(`${directory}/cgroup`)
  await workspace.write('cgroup/cgroup.controllers', 'cpu memory\n')
  await workspace.write('cgroup/cpu.max', '100000 100000\n')
  const own = await workspace.write('own', '0::/\n')
  const mounts = `mount --bind ${directory}/cgroup /sys/fs/cgroup && mount --bind ${own} /proc/$$/cgroup`
  const script = `${mounts} && exec ${process.execPath} -p 'os.availableParallelism()'`
  const args = ['--mount', 'sh', '-c', script]
  expect(execFileSync('unshare', args, { encoding: 'utf8' }).trim()).toBe('1')
})

test('a reload and a stop under load lose no read', async () => {
  const config = await workersConfig(nodes, { workers: 4 })
  await using program = await startWorkers(workspace, config)
  const clients = Array.from({ length: 40 }, () => new Client(program))
  const changes = async () => {
    const admin = { 'metrics-listen-address': new URL(program.adminUrl).host }
    for (const name of ['c', 'd', 'e']) {
      const text = JSON.stringify({ ...admin, ...config }).replace('"name":"b"', `"name":"${name}"`)
      await workspace.write('router.yml', text)
      const applied = () => program.stdout.split('config reloaded').length > 'bcde'.indexOf(name)
      await waitUntil('the config is reloaded', 60_000, undefined, applied)
      await sleep(500)
    }
  }
  await readUntil(clients, 200, changes())
  expect(clients.flatMap((each) => [...each.lost])).toEqual([])
  for (const each of clients) each.close()
  const pending = askAll(program, 50)
  await sleep(20)
  program.kill('SIGTERM')
  expect((await pending).every(({ result }) => result !== undefined)).toBe(true)
  expect((await program.ended).code).toBe(0)
})
