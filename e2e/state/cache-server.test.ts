// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, onTestFinished, test } from 'vitest'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { waitUntil } from '../processes/eventually.ts'
import { createWorkspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { type Replica, startFleet } from './fleet.fixture.ts'

const { signal } = new AbortController()

/** The cache outcome of a call. */
const cacheOf = async ({ program }: Replica, block: number) => {
  const params = [`0x${'aa'.repeat(20)}`, `0x${block.toString(16)}`]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params })
  const response = await fetch(program.urls[0]!, { method: 'POST', body })
  return response.headers.get('rpc-cache')
}

test.each(['SIGSTOP', 'SIGKILL'] as const)(
  'a cache service under %s fails only sessions, which then recover',
  async (harm) => {
    await using workspace = await createWorkspace()
    await using children = new ChildProcesses(workspace.directory)
    const chain = createChainModel()
    const nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
    onTestFinished(() => Promise.all(nodes.map((node) => node.stop())).then(() => {}))
    const [port = 0] = await freePorts(1)
    const args = ['bin/router.mjs', 'cache', `127.0.0.1:${port}`, '--metrics-listen-address', 'off']
    const startCache = () => children.start({ name: 'cache', command: process.execPath, args })
    const cache = await startCache()
    await using fleet = await startFleet(workspace, nodes, `127.0.0.1:${port}`)
    const [one, two] = fleet.all
    let [session, sessions, block] = ['', 0, 0]
    const bothServe = () =>
      waitUntil('both serve a session from one node', 60_000, signal, async () => {
        session = `session-${(sessions += 1)}`
        const { node } = await one.ask(session)
        return node !== null && (await two.ask(session)).node === node
      })
    await bothServe()
    await waitUntil('one has what the other one asked', 60_000, signal, async () => {
      block += 1
      return [await cacheOf(one, block), await cacheOf(two, block)].join(' ') === 'miss hit'
    })
    const commands = 'router_store_command_duration_seconds_count'
    for (const each of ['get', 'set', 'claim'])
      expect(await one.metric(`${commands}{command="${each}",outcome="success"}`)).toBeGreaterThan(
        0,
      )
    cache.kill(harm)
    for (let each = 0; each < 50; each++)
      expect((await fleet.all[each % 2]!.ask(null)).status).toBe(200)
    expect(await one.ask('another session')).toMatchObject({ status: 503, reason: 'session-store' })
    expect(await one.metric('router_cache_store_failures_total')).toBeGreaterThan(0)
    const fault = harm === 'SIGSTOP' ? 'timeout' : 'unreachable'
    expect(await one.metric(`${commands}{command="get",outcome="${fault}"}`)).toBeGreaterThan(0)
    if (harm === 'SIGSTOP') cache.kill('SIGCONT')
    else await startCache()
    await bothServe()
  },
)
