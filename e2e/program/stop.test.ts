// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'
import { startProgram } from './program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from './workspace.ts'

const slowly = 'eth_getBalance'
const balance = [`0x${'11'.repeat(20)}`, '0x100'] as const

/** Clock of the node only. Slow answers arrive when the test advances it. */
const nodeClock = new VirtualClock()
const slowMs = 1_000

let workspace: Workspace
let node: SimNode
beforeAll(async () => {
  workspace = await createWorkspace()
  node = await startSimNode({ chain: createChainModel(), name: 'a', clock: nodeClock })
  node.faults.add({ kind: 'slow', delayMs: slowMs }, { methods: [slowly] })
})
afterAll(async () => {
  await node[Symbol.asyncDispose]()
  await workspace[Symbol.asyncDispose]()
})

interface Answer {
  readonly status: number
  readonly connection: string
  readonly body: string
}

/** Sends a call on a kept-alive connection of the agent. */
function ask(agent: http.Agent, url: string, method: string, params: readonly unknown[] = []) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'rpc-relay-timeout': '20s' }
    const request = http.request(url, { agent, method: 'POST', headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.once('error', reject).once('end', () => {
        const { statusCode: status = 0, headers: got } = response
        resolve({ status, connection: got.connection ?? '', body })
      })
    })
    request.once('error', reject)
    request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  })
}

/** Sends calls that the node delays. Resolves once the node has received them. */
async function slowCalls(agent: http.Agent, url: string, count: number) {
  node.calls.clear()
  const calls = Array.from({ length: count }, () => ask(agent, url, slowly, balance))
  const answers = Promise.allSettled(calls)
  await expect.poll(() => node.calls.count(slowly)).toBe(count)
  return { answers }
}

async function startReady(flags: readonly string[] = []) {
  const program = await startProgram(workspace, ethereumConfig([node]), { flags })
  const readyz = `${program.adminUrl}/readyz`
  await expect.poll(async () => (await fetch(readyz)).status, { interval: 20 }).toBe(200)
  const [url = ''] = program.urls
  return { program, url, readyz }
}

test('SIGTERM: readiness fails, keep-alive connections close, in-flight calls finish, code 0', async () => {
  const { program, url, readyz } = await startReady()
  await using running = program
  using idle = new KeptAlive()
  using busy = new KeptAlive()
  expect(await ask(idle.agent, url, 'eth_chainId')).toMatchObject({ connection: 'keep-alive' })
  const { answers } = await slowCalls(busy.agent, url, 5)

  running.kill('SIGTERM')
  await running.logged('stopping')
  const readiness = await fetch(readyz)
  expect([readiness.status, (await readiness.text()).split('\n')[0]]).toEqual([
    503,
    'not ready: draining',
  ])
  // The listener remains open for clients that have not noticed the stop.
  const late = await ask(idle.agent, url, 'eth_chainId')
  expect(late).toMatchObject({ status: 200, connection: 'close' })

  await nodeClock.advance(slowMs)
  const value = { status: 200, connection: 'close', body: expect.stringContaining('"result"') }
  expect(await answers).toEqual(Array.from({ length: 5 }, () => ({ status: 'fulfilled', value })))
  const { code, stdout, stderr } = await running.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('every call in flight was answered')
})

test('the end of the drain time ends the program with code 1', async () => {
  const { program, url } = await startReady(['--drain-timeout', '200ms'])
  await using running = program
  using busy = new KeptAlive()
  const { answers } = await slowCalls(busy.agent, url, 2)
  running.kill('SIGTERM')
  const { code, stdout } = await running.ended
  expect(code).toBe(1)
  expect(stdout).toContain('the drain time was over')
  // The router cancelled these calls, so they do not count as failures of upstreams.
  expect(stdout).not.toContain('upstream-failed')
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a second signal ends the program at once, with code 1', async () => {
  const { program, url } = await startReady()
  await using running = program
  using busy = new KeptAlive()
  const { answers } = await slowCalls(busy.agent, url, 1)
  running.kill('SIGTERM')
  await running.logged('stopping')
  running.kill('SIGINT')
  const { code, stdout } = await running.ended
  expect(code).toBe(1)
  expect(stdout).toContain('a second signal')
  expect((await answers).map(({ status }) => status)).toEqual(['rejected'])
})

test('SIGINT waits for no idle connection: code 0', async () => {
  const { program, url } = await startReady(['--drain-timeout', '1h'])
  await using running = program
  using idle = new KeptAlive()
  await ask(idle.agent, url, 'eth_chainId')
  running.kill('SIGINT')
  expect((await running.ended).code).toBe(0)
})

/** A client that reuses its connections until it is disposed. */
class KeptAlive implements Disposable {
  readonly agent = new http.Agent({ keepAlive: true });

  [Symbol.dispose](): void {
    this.agent.destroy()
  }
}

test('without an admin address an idle connection delays the exit only for the drain time: code 0', async () => {
  const config = { ...ethereumConfig([node]), 'metrics-listen-address': 'off' }
  await using running = await startProgram(workspace, config, {
    flags: ['--drain-timeout', '500ms'],
  })
  using idle = new KeptAlive()
  await ask(idle.agent, running.urls[0] ?? '', 'eth_chainId')
  running.kill('SIGTERM')
  const { code, stderr } = await running.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})
