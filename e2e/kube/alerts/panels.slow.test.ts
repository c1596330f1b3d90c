// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patientClock } from '../../../proxy/clock/testing/patient-clock.ts'
import { ChildProcesses } from '../../processes/child-processes.ts'
import { freePort } from '../../processes/free-ports.ts'
import { routerConfig } from '../../processes/router-config.ts'
import { type Program, startProgram } from '../../program/program.ts'
import { createWorkspace } from '../../program/workspace.ts'
import { createChainModel } from '../../upstream-sim/chain-model.ts'
import { startSimNode } from '../../upstream-sim/sim-node.ts'
import { type LivePrometheus, startPrometheus } from './live-prometheus.ts'
import { emptyPanels, patience } from './panels.ts'

/*
 * Two real routers under traffic with events, and a real Prometheus: no panel of a dashboard of
 * routers is empty.
 */

const dashboards = ['fleet', 'chain', 'upstream'] as const
const eth = { 'chain-id': 'ETH1', 'api-interface': 'jsonrpc' }
const account = `0x${'aa'.repeat(20)}`

const stack = new AsyncDisposableStack()
const chain = createChainModel({ clock: patientClock, blockTimeMs: 2_000 })
const routers: Program[] = []
let prometheus: LivePrometheus

async function startRouters(): Promise<void> {
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const wrongChain = { methods: { eth_chainId: () => '0x5' } }
  const node = async (name: string, more = {}) =>
    stack.use(await startSimNode({ chain, name, ...more }))
  const [a, b, other, backup] = await Promise.all([
    node('a'),
    node('b'),
    node('other', wrongChain),
    node('backup'),
  ])
  a.faults.add({ kind: 'status', status: 503, body: 'json-rpc' }, { probability: 0.2 })
  a.faults.add({ kind: 'slow', delayMs: 1_500 }, { probability: 0.1 })
  const cachePort = await freePort()
  const cache = ['bin/router.mjs', 'cache', `127.0.0.1:${cachePort}`]
  const args = [...cache, '--metrics-listen-address', 'off']
  await children.start({ name: 'cache', command: process.execPath, args })
  const urlsOf = ({ name, url, socketUrl }: typeof a) => ({
    name,
    urls: [{ url }, { url: socketUrl }],
  })
  const config = {
    ...routerConfig([
      {
        chainId: 'ETH1',
        apiInterface: 'jsonrpc',
        nodes: [a, b, other].map(urlsOf),
        backups: [urlsOf(backup)],
      },
    ]),
    'cache-be': `127.0.0.1:${cachePort}`,
    'shared-state': true,
    'cache-bytes': '16MiB',
    'cross-validation': {
      policies: [{ ...eth, method: 'eth_getBalance', 'agreement-threshold': 2 }],
    },
  }
  // Calls are traced, although no collector is there.
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
  for (let each = 0; each < 2; each++) {
    const own = stack.use(await createWorkspace())
    routers.push(stack.use(await startProgram(own, config, { env })))
  }
  const targets = routers.map(({ adminUrl }) => new URL(adminUrl).host)
  prometheus = await startPrometheus(children, workspace, { 'rpc/mainnet': targets })
}

async function ask(url: string, method: string, params: readonly unknown[], headers = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', body, headers })
  await response.arrayBuffer()
}

/** Calls of all kinds to both routers, and now and then a reorg. */
async function sendTraffic(over: AbortSignal): Promise<void> {
  const sockets = routers.map(({ urls: [url = ''] }) => {
    const socket = new WebSocket(url.replace('http', 'ws'))
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }
    socket.addEventListener('open', () => socket.send(JSON.stringify(subscribe)))
    return socket
  })
  for (let round = 1; !over.aborted; round++) {
    const height = `0x${(round % 50).toString(16)}`
    const calls = routers.flatMap(({ urls: [url = ''] }) => [
      ask(url, 'eth_getBlockByNumber', [height, false]),
      ask(url, 'eth_getBalance', [account, height]),
      ask(url, 'eth_getBalance', [account, 'latest'], { 'rpc-stickiness': `s${round % 20}` }),
      ask(url, 'eth_call', [{ to: account, data: '0x' }, 'latest']),
      fetch(url, { method: 'POST', body: 'not JSON' }).then((response) => response.arrayBuffer()),
    ])
    await Promise.allSettled(calls)
    if (round % 40 === 0) chain.reorg(2)
  }
  for (const socket of sockets) socket.close()
}

beforeAll(async () => {
  await startRouters()
  const over = new AbortController()
  const traffic = sendTraffic(over.signal)
  stack.defer(async () => {
    over.abort()
    await traffic
  })
}, 600_000)
afterAll(() => stack.disposeAsync(), 60_000)

test.each(dashboards)(
  'no panel and no annotation of the dashboard %s is empty',
  async (name) => {
    await expect.poll(emptyPanels(prometheus, name), patience).toEqual([])
  },
  240_000,
)

test('Prometheus stores exemplars with the trace of a call', async () => {
  const url = `${prometheus.url}/api/v1/query_exemplars`
  const query = 'router_request_duration_seconds_bucket'
  const [start, end] = [Date.now() / 1_000 - 3_600, Date.now() / 1_000 + 60].map(String)
  const body = new URLSearchParams({ query, start: start ?? '', end: end ?? '' })
  const exemplars = async () => {
    const response = await fetch(url, { method: 'POST', body })
    const { data } = (await response.json()) as {
      data: { exemplars: { labels: { trace_id: string } }[] }[]
    }
    return data.flatMap((series) => series.exemplars.map(({ labels }) => labels.trace_id))
  }
  await expect.poll(exemplars).toEqual(expect.arrayContaining([expect.stringMatching(/^\w{32}$/)]))
})
