// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RpcRouter } from '../../operator/api/rpc-router.ts'
import { childLabels } from '../../operator/resources/labels.ts'
import { ownFlagsOf } from '../../proxy/cli/commands.ts'
import { VirtualClock } from '../../proxy/clock/testing/virtual-clock.ts'
import { at, someChain, someFacts, someUpstream } from '../../proxy/console/facts.fixture.ts'
import { aCall, anAttempt, repliedBy } from '../../proxy/telemetry/call.fixture.ts'
import { explainPage } from '../../proxy/telemetry/explain/explain-page.ts'
import { CallHistory } from '../../proxy/telemetry/explain/call-history.ts'
import { runTool, type ToolRun } from '../processes/run-tool.ts'
import { kubeconfigOf } from './access.ts'
import { findAssets } from './assets.ts'
import { noFaults } from './chaos/faults.ts'
import { ChaosProxy } from './chaos/proxy.ts'
import { pods } from './resources.ts'
import { useNamespace } from './test-namespace.ts'

/*
 * The real kubectl runs the plugin, which runs the real kubectl, with pods on a real API server.
 * That server does not proxy to loopback, so a proxy in front of it answers for the pods.
 */

const { namespace, client, access, kubeconfig, signal } = useNamespace()
const plugin = join(import.meta.dirname, '../../bin/kubectl-rpc.mjs')

/** The call histories of the routers: `r-1` has one call. */
const known = new Map(['r-1', 'r-2'].map((name) => [name, new CallHistory(new VirtualClock())]))
const call = aCall({ guid: 'guid-1', method: 'eth_gasPrice' })
anAttempt(call, 'node-a', 'answer')
known.get('r-1')?.listenerObserver('ETH1', 'jsonrpc').callEnded(call, repliedBy('node-a'), 12)

let folder: string
let api: ChaosProxy
const front = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://any')
  // This header identifies the router's own tools when the host is the API server's public name.
  if (pathname.includes('/proxy/') && request.headers['sec-router-client'] === undefined)
    return void response.writeHead(403).end()
  if (pathname.endsWith('/pods/r-1:7779/proxy/facts')) {
    const disabled = { state: 'disabled', why: 'connection-refused', since: at(40) }
    const facts = someFacts(100, [someChain([someUpstream('node-a', disabled)])])
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(facts))
    return
  }
  const [, pod = '', guid] =
    /\/pods\/([\w-]+):7779\/proxy\/explain(?:\/(.*))?$/.exec(pathname) ?? []
  const calls = known.get(pod)
  if (!calls)
    return void fetch(api.access.server + request.url, {
      headers: { accept: request.headers.accept ?? '' },
    }).then(async (answer) => {
      const type = answer.headers.get('content-type') ?? ''
      response.writeHead(answer.status, { 'content-type': type }).end(await answer.text())
    })
  const query = Object.fromEntries(searchParams)
  const { status, body } = explainPage(calls, guid ?? null, query)
  response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rpc-router-kubectl-test-'))
  await symlink(plugin, join(folder, 'kubectl-rpc'))
  api = await ChaosProxy.start(access, noFaults)
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const server = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  await writeFile(join(folder, 'config'), kubeconfigOf({ ...access, server }, namespace))
  const router = { metadata: { name: 'r', namespace } } as RpcRouter
  for (const [name, labels] of Object.entries({
    'r-1': childLabels(router, 'router'),
    'r-2': childLabels(router, 'router'),
    'r-redis': childLabels(router, 'redis'),
    other: {},
  })) {
    const spec = { containers: [{ name: 'main', image: 'none' }] }
    const metadata = { namespace, name, labels }
    await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec }, signal)
    const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] }
    await client.mergePatch(pods, { namespace, name }, { status }, signal, 'status')
  }
})
afterAll(async () => {
  front.close()
  await api[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** @param config path of a kubeconfig; by default its routers answer */
async function rpc(args: readonly string[], config = join(folder, 'config')): Promise<ToolRun> {
  const { kubectl } = await findAssets(process.env)
  if (kubectl === null) throw new Error('there is no kubectl; make kube-assets builds it')
  const path = [folder, dirname(kubectl), dirname(process.execPath), '/usr/bin', '/bin'].join(':')
  const env = { PATH: path, KUBECONFIG: config, KUBECACHEDIR: join(folder, 'cache'), HOME: folder }
  return runTool(kubectl, ['rpc', ...args], '', env)
}

test('kubectl rpc explain queries all routers, and prints the call from the one that has it', async () => {
  const { code, stdout, stderr } = await rpc(['explain', 'guid-1'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /^ETH1 jsonrpc eth_gasPrice {2}guid-1\n.* success after 12ms, answered by node-a/,
  )
  expect((await rpc(['explain', 'guid-1', '-A'])).stdout).toBe(stdout)
})

test.each([[['--slow']], [['--upstream=node-b']], [['--upstream', 'node-b', '--retried']]])(
  'kubectl rpc explain %j lists calls by pod',
  async (flags) => {
    const { code, stdout } = await rpc(['explain', ...flags, '-n', namespace])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: ['r-1', 'r-2']
        .map((name, at) => {
          const kept = at === 0 ? '1 recent' : '0 recent'
          return `${namespace}/${name}\nno call; stored: ${kept}, 0 failed, 0 slow, 0 retried\n\n`
        })
        .join(''),
    })
  },
)

test.each<[string[], number, RegExp]>([
  [
    ['explain', 'guid-2'],
    1,
    /^(router: error: test-\w+\/r-[12]: no call has this guid here; stored: [01] recent.*\n){2}$/,
  ],
  [['explain', 'guid-1', '-n', 'default'], 1, /error: no router runs in this namespace; use -A/],
  [['explain', 'guid-1', '--context', 'gone'], 1, /^kubectl rpc: error: .*context.*gone/],
  [
    ['explain', 'guid-1', '--no-such-flag'],
    1,
    /^kubectl rpc: error: .*unknown flag: --no-such-flag\n$/,
  ],
  [['explain'], 2, /Give a guid or a flag of explain first\. See kubectl rpc --help/],
  [['explain', '-n', 'a', 'guid-1'], 2, /Give a guid or/],
  [['explain', '../x'], 2, /Give a guid or/],
  [['explian', 'guid-1'], 2, /Unknown command "explian"\. See kubectl rpc --help/],
])('kubectl rpc %j fails with code %i and says why', async (args, code, why) => {
  const outcome = await rpc(args)
  expect(outcome).toMatchObject({ code, stdout: '' })
  expect(outcome.stderr).toMatch(why)
})

test('kubectl rpc top shows problems of the fleet with the names of its pods', async () => {
  const { code, stdout, stderr } = await rpc(['top', '--once', '-n', namespace])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /\nDOWN ETH1 jsonrpc since 03:00:40 .*: the only upstream does not serve\n/,
  )
  expect(stdout).toMatch(new RegExp(`^DOWN ${namespace}/r-2: it answers with HTTP \\d+`))
  expect(stdout).toMatch(/\n node-a +disabled /)
  expect((await rpc(['top', '--once', '-n', 'default'])).stderr).toMatch(/no router runs in this/)
})

test('kubectl rpc --help', async () => {
  for (const args of [[], ['--help'], ['explain', '-h']])
    expect(await rpc(args)).toMatchObject({ code: 0, stderr: '' })
  const { stdout } = await rpc([])
  for (const name of ownFlagsOf('explain'))
    expect(stdout.includes(`--${name} `)).toBe(name !== 'at')
})

test("the API server's error about an unreachable pod is shown", async () => {
  const { code, stderr } = await rpc(['explain', 'guid-1', '-n', namespace], kubeconfig)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^(router: error: test-\w+\/r-[12]: .*not allowed.*\n){2}$/)
})
