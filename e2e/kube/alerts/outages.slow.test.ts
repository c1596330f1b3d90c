// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patientClock } from '../../../proxy/clock/testing/patient-clock.ts'
import { ChildProcesses } from '../../processes/child-processes.ts'
import { eventually } from '../../processes/eventually.ts'
import { routerConfig } from '../../processes/router-config.ts'
import { type Program, startProgram } from '../../program/program.ts'
import { createWorkspace } from '../../program/workspace.ts'
import { createChainModel } from '../../upstream-sim/chain-model.ts'
import { type SimNode, startSimNode } from '../../upstream-sim/sim-node.ts'
import { type LivePrometheus, startPrometheus } from './live-prometheus.ts'

/*
 * Outages at once, each behind a router of its own, in a real Prometheus with the shipped rules,
 * ten times faster than usual: the right alert fires, and none names an innocent node. Each router
 * gets ten calls a second, which the rules see as one.
 */

interface Outage {
  /** The alert that must fire. */
  readonly alert: string
  /** Other alerts on the same cause. */
  readonly also?: readonly string[]
  /** Whether every node fails, and none is innocent. */
  readonly isTotal?: boolean
  /** Whether the second node is a backup, instead of a URL of `alpha`. */
  readonly hasBackup?: boolean
  /** Breaks the node `alpha`, or its second URL, or more. */
  begin(outage: Parts): void | Promise<unknown>
}

interface Parts {
  readonly alpha: SimNode
  readonly second: SimNode
  readonly nodes: readonly SimNode[]
  readonly router: Program
}

const failing = ['RouterUpstreamUnreliable', 'RouterUpstreamDisabled']
const outages: Readonly<Record<string, Outage>> = {
  'an upstream is dead': {
    alert: 'RouterUpstreamDisabled',
    also: failing,
    begin: ({ alpha, second }) => Promise.all([alpha.stop(), second.stop()]),
  },
  'a node hangs in half of its calls': {
    alert: 'RouterUpstreamUnreliable',
    also: [...failing, 'RouterRedundancyLost'],
    begin({ alpha, second }) {
      for (const { faults } of [alpha, second]) faults.add({ kind: 'hang' }, { probability: 0.5 })
    },
  },
  'a provider limits the rate': {
    alert: 'RouterUpstreamInCooldown',
    also: failing,
    begin({ alpha, second }) {
      for (const { faults } of [alpha, second]) faults.add({ kind: 'rate-limit', retryAfter: 5 })
    },
  },
  'a provider limits one method': {
    alert: 'RouterMethodLimited',
    also: failing,
    begin({ alpha, second }) {
      const message = 'rate limit exceeded for method eth_getBalance'
      for (const { faults } of [alpha, second])
        faults.add({ kind: 'error', code: -32005, message }, { methods: ['eth_getBalance'] })
    },
  },
  'all primaries are dead': {
    alert: 'RouterOnBackupTier',
    also: [...failing, 'RouterErrorRatioHigh'],
    isTotal: true,
    hasBackup: true,
    begin: ({ nodes }) => Promise.all(nodes.map((node) => node.stop())),
  },
  'a node serves another chain': {
    alert: 'RouterUpstreamRejected',
    begin() {},
  },
  'a node is stale': {
    alert: 'RouterUpstreamLagging',
    begin({ alpha, second }) {
      for (const { view } of [alpha, second]) view.lagBlocks = 40
    },
  },
  'all nodes are dead': {
    alert: 'RouterNoEndpointServing',
    also: [...failing, 'RouterErrorRatioHigh'],
    isTotal: true,
    begin: ({ nodes, second }) => Promise.all([...nodes, second].map((node) => node.stop())),
  },
  'the router is away': {
    alert: 'RouterDown',
    begin: ({ router }) => router.kill('SIGKILL'),
  },
  'the key of one of two URLs is revoked': {
    alert: 'RouterRedundancyLost',
    also: failing,
    begin({ second }) {
      second.faults.add({ kind: 'status', status: 401, body: 'json-rpc' })
    },
  },
}

/** A busy machine may raise these, which name no node. */
const ofTheMachine = ['RouterEventLoopDelayed', 'RouterLatencyHigh']

const stack = new AsyncDisposableStack()
const started = new Map<string, Parts>()
let prometheus: LivePrometheus

async function start(name: string): Promise<Parts> {
  const chain = createChainModel({ clock: patientClock, seed: name })
  const isOther = name === 'a node serves another chain'
  const { hasBackup = false } = outages[name]!
  const methods = isOther ? { eth_chainId: () => '0x5' } : {}
  const nodes = await Promise.all(
    ['alpha', 'beta', 'gamma', 'second'].map(async (node) =>
      stack.use(
        await startSimNode({
          chain,
          name: node,
          ...(node === 'alpha' || node === 'second' ? { methods } : {}),
        }),
      ),
    ),
  )
  const [alpha, beta, gamma, second] = nodes as [SimNode, SimNode, SimNode, SimNode]
  const workspace = stack.use(await createWorkspace())
  const config = routerConfig([
    {
      chainId: 'ETH1',
      apiInterface: 'jsonrpc',
      nodes: [alpha, beta, gamma].map((node) => ({
        name: node.name,
        urls: [node, ...(node === alpha && !hasBackup ? [second] : [])].map(({ url }) => ({ url })),
      })),
      ...(hasBackup && { backups: [{ name: 'backup', urls: [{ url: second.url }] }] }),
    },
  ])
  const settings = { 'skip-websocket-verification': true, 'epoch-duration': '90s' }
  const router = stack.use(
    await startProgram(workspace, { ...config, ...settings, 'cache-bytes': 0 }),
  )
  return { alpha, second, nodes: [alpha, beta, gamma], router }
}

/** Sends ten calls a second to each router, whatever it answers, until the end. */
function sendTraffic(): () => Promise<void> {
  const over = new AbortController()
  const running = new Set<Promise<unknown>>()
  let block = 1
  const timer = setInterval(() => {
    for (const { router } of started.values()) {
      block += 1
      const params = [`0x${'aa'.repeat(20)}`, `0x${block.toString(16)}`]
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params })
      const sent = fetch(router.urls[0] ?? '', { method: 'POST', body, signal: over.signal })
      const done: Promise<unknown> = sent
        .then((response) => response.arrayBuffer())
        .catch(() => {})
        .finally(() => running.delete(done))
      running.add(done)
    }
  }, 100)
  return async () => {
    clearInterval(timer)
    over.abort()
    await Promise.all(running)
  }
}

beforeAll(async () => {
  for (const name of Object.keys(outages)) started.set(name, await start(name))
  stack.defer(sendTraffic())
  const workspace = stack.use(await createWorkspace())
  const children = stack.use(new ChildProcesses(workspace.directory))
  const jobs = [...started].map(([name, { router }]) => [name, [new URL(router.adminUrl).host]])
  prometheus = await startPrometheus(children, workspace, Object.fromEntries(jobs) as never)
}, 600_000)
afterAll(() => stack.disposeAsync(), 60_000)

/** All alerts that fired so far, with the outage of their job or instance. */
async function fired() {
  const results = await prometheus.query('max_over_time(ALERTS{alertstate="firing"}[1h])')
  const nameOf = ({ job, instance }: Readonly<Record<string, string>>) =>
    job ?? [...started].find(([, { router }]) => router.adminUrl.endsWith(`//${instance}`))?.[0]
  return results.map(({ metric }) => ({
    outage: nameOf(metric),
    alert: metric['alertname'] ?? '',
    upstream: metric['upstream'],
  }))
}

test('before the outages, only the wrong chain is reported', async () => {
  const samples = () => prometheus.query('count_over_time(router_build_info[1h]) > 12')
  await eventually(async () => (await samples()).length === started.size, 120_000)
  const found = (await fired()).filter(({ alert }) => !ofTheMachine.includes(alert))
  for (const each of found)
    expect(each).toEqual({
      outage: 'a node serves another chain',
      alert: 'RouterUpstreamRejected',
      upstream: 'alpha',
    })
}, 200_000)

test('each outage raises its alert, and none names an innocent node', async () => {
  for (const [name, { begin }] of Object.entries(outages)) await begin(started.get(name)!)
  await expect
    .poll(
      async () => {
        const found = await fired()
        return Object.entries(outages)
          .filter(
            ([name, { alert }]) =>
              !found.some((each) => each.outage === name && each.alert === alert),
          )
          .map(([name, { alert }]) => `${alert}: ${name}`)
      },
      { timeout: 400_000, interval: 2_000 },
    )
    .toEqual([])
  const wrong = (await fired()).filter(({ outage = '', alert, upstream }) => {
    const { alert: wanted, also = [], isTotal = false } = outages[outage]!
    const isInnocent = upstream !== undefined && upstream !== 'alpha' && !isTotal
    return isInnocent || ![wanted, ...also, ...ofTheMachine].includes(alert)
  })
  expect(wrong).toEqual([])
}, 500_000)
