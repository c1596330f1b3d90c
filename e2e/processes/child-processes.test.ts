// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChildProcesses } from './child-processes.ts'
import { freePorts } from './free-ports.ts'
import { waitUntil } from './eventually.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rpc-router-processes-test-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

const forever = 'console.log("started"); setInterval(() => {}, 1000)'

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

test('disposing of the owner ends its children, whose output can be read', async () => {
  const pids: number[] = []
  {
    await using children = new ChildProcesses(directory)
    for (const name of ['one', 'two']) {
      const child = await children.start({ name, command: process.execPath, args: ['-e', forever] })
      pids.push(child.pid)
      await waitUntil(
        'it prints its line',
        10_000,
        AbortSignal.timeout(10_000),
        () => child.tail() === 'started\n',
      )
      expect(child.alive).toBe(true)
    }
    expect(pids.map(isRunning)).toEqual([true, true])
  }
  expect(pids.map(isRunning)).toEqual([false, false])
})

test('stopping a killed child is harmless', async () => {
  await using children = new ChildProcesses(directory)
  const args = ['-e', forever]
  const child = await children.start({ name: 'one', command: process.execPath, args })
  child.kill('SIGKILL')
  await child.ended
  expect(child.alive).toBe(false)
  await child.stop()
})

test('the error names a missing program', async () => {
  await using children = new ChildProcesses(directory)
  const starting = children.start({ name: 'ghost', command: '/nowhere/ghost', args: [] })
  await expect(starting).rejects.toThrow('ghost could not be started: /nowhere/ghost')
})

test('a wait that times out has the last error as its cause', async () => {
  const { signal } = new AbortController()
  const failing = waitUntil('the sun rises', 50, signal, () => Promise.reject(new Error('night')))
  await expect(failing).rejects.toMatchObject({
    message: 'timed out after 0.05 s: the sun rises',
    cause: new Error('night'),
  })
})

test('ports are free, distinct and reserved', async () => {
  const ports = await freePorts(10)
  expect(new Set(ports).size).toBe(10)
  for (const port of ports) {
    const rival = createSocket('udp4')
    const refused = once(rival.bind(port, '127.0.0.1'), 'listening')
    await expect(refused).rejects.toThrow('EADDRINUSE')
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  }
})
