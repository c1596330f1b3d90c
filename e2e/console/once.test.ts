// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { View } from '../../proxy/console/view.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { type Program, runProgram, startProgram } from '../program/program.ts'
import { createWorkspace, ethereumConfig, type Workspace } from '../program/workspace.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../upstream-sim/sim-node.ts'

let workspace: Workspace
let nodes: SimNode[]
let router: Program
beforeAll(async () => {
  const chain = createChainModel()
  workspace = await createWorkspace()
  nodes = await Promise.all(['a', 'b'].map((name) => startSimNode({ chain, name })))
  router = await startProgram(workspace, ethereumConfig(nodes))
})
afterAll(async () => {
  await router[Symbol.asyncDispose]()
  await Promise.all(nodes.map((node) => node.stop()))
  await workspace[Symbol.asyncDispose]()
})

const addressOf = ({ adminUrl }: Program) => adminUrl.replace('http://', '')

test('--once and --json show the bad node, the reason and the time', async () => {
  const [url = ''] = router.urls
  const ready = async () => (await fetch(`${router.adminUrl}/readyz`)).text()
  await expect.poll(ready).toContain('2 of 2 upstreams serving')
  await nodes[1]?.stop()
  let requests = 10
  const calls = async () => {
    // Each call differs, so that the cache answers none.
    for (const end = requests + 5; requests < end; requests++)
      await askRpc(url, 'eth_getBalance', [`0x${'0'.repeat(36)}${1_000 + requests}`, '0x1'])
    return ready()
  }
  await expect.poll(calls).toContain('b disabled')
  const at = addressOf(router)
  const [once, json] = await Promise.all([
    runProgram(['top', '--at', at, '--once']),
    runProgram(['top', '--at', `${at},${at}`, '--json']),
  ])
  expect([once.code, once.stderr]).toEqual([0, ''])
  expect(once.stdout).toMatch(
    /^BAD {2}b \(ETH1 jsonrpc\) since \d\d:\d\d:\d\d \(\d+s\): disabled: .*refused.*; until /,
  )
  expect(once.stdout).toMatch(/\nETH1 jsonrpc +1\/2 /)
  expect(once.stdout).toMatch(/\n b +disabled [^]*\n a +eligible /)
  const view = JSON.parse(json.stdout) as View
  expect(view).toMatchObject({
    version: 1,
    replicas: [{ at, problem: null }],
    problems: [{ severity: 'bad', upstream: 'b' }],
    chains: [{ name: 'ETH1 jsonrpc', serving: 1, upstreams: [{ name: 'a' }, { name: 'b' }] }],
    calls: [],
  })
})

test.concurrent.each([
  [['--once', '--at', '127.0.0.1:1'], 1, /^$/, /DOWN 127\.0\.0\.1:1: no answer: /],
  [['--at', 'a b', '--once'], 2, /--at: "a b" is not an address/, /^$/],
  [['--onec'], 2, /--onec: unknown flag "--onec"\. Did you mean --once\?/, /^$/],
  [['--at', '127.0.0.1:1'], 1, /^$/, /DOWN 127\.0\.0\.1:1: no answer: /],
  [['--help'], 0, /^$/, /Usage: router top \[flags\]/],
])('router top %j ends with %i', async (args, code, stderr, stdout) => {
  const ended = await runProgram(['top', ...args])
  expect(ended.code).toBe(code)
  expect(ended.stderr).toMatch(stderr)
  expect(ended.stdout).toMatch(stdout)
})

test('--admin-page off serves no page to browsers, but router top still works', async () => {
  const on = await fetch(router.adminUrl)
  expect([on.status, on.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  await on.body?.cancel()
  const flags = ['--admin-page', 'off']
  await using other = await startProgram(workspace, ethereumConfig(nodes), { flags })
  const paths = ['/', '/events', '/facts']
  const statuses = paths.map(async (path) => (await fetch(other.adminUrl + path)).status)
  expect(await Promise.all(statuses)).toEqual([404, 404, 200])
})
