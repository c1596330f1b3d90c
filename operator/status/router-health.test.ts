// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RpcRouterStatus } from '../api/status.ts'
import type { Deployment } from '../resources/kinds.ts'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import type { FleetView } from './fleet-view.ts'
import { routerStatus } from './router-status.ts'

const golden = join(import.meta.dirname, '../translate/testdata/minimal.in.yaml')
const scenario = readScenario(readFileSync(golden, 'utf8'))
const annotations = { 'rpcrouter.dev/listen-ports': '3360' }

function deployment(ready: number): Deployment {
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: ready, availableReplicas: ready }
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'r', generation: 1 } },
    spec: { replicas: 2, selector: {}, template: { metadata: { annotations } } },
    status: { observedGeneration: 1, ...counts },
  }
}

const redis = { name: '10.0.0.7:6379 (resp-cache)', why: 'no password' }

/** An observation of two pods. @param lost features without a store, per pod */
function observe(serving: number, ...lost: readonly (readonly string[])[]): FleetView {
  const why = serving > 0 ? null : 'a: http-unauthorized (HTTP 401)'
  const darkMs = serving > 0 ? null : 1
  const pods = [0, 1].map((index) => ({
    ...{ pod: `p${index}`, configSha256: '', isRefusing: false, upstreams: [] },
    listeners: [{ chain: 'ETH1', interface: 'jsonrpc', serving, total: 1, why, darkMs }],
    stores: (lost[index] ?? []).map((feature) => ({ ...redis, feature })),
  }))
  return { pods, silent: [] }
}

function statusOf(views: readonly FleetView[], ready = 2, before: RpcRouterStatus = {}) {
  return routerStatus({
    router: { ...scenario.router, status: before },
    translation: translateScenario(scenario),
    applied: { result: 'applied' },
    deployment: deployment(ready),
    missingMonitor: null,
    rollsOut: false,
    observations: views,
    now: '2026-01-31T03:00:00Z',
  })
}

function textOf({ conditions = [] }: RpcRouterStatus, wanted: string): string {
  const { reason, message } = conditions.find(({ type }) => type === wanted) ?? {}
  return `${reason}: ${message}`
}

const fine = observe(1)
const dark = observe(0)
const noSessions = observe(1, ['sessions'], ['sessions'])
const loss = 'The store of sessions is not available: until it is, calls with a session id fail.'
const darkText = 'No upstream of the listener eth1 serves: a: http-unauthorized (HTTP 401).'

test.each<[string, FleetView, number, string, string]>([
  ['all is well', fine, 2, 'MinimumReplicasAvailable: 2 of 2 pods are available.', '1/1'],
  ['a dark listener', dark, 2, `ListenersDark: 2 of 2 pods are available. ${darkText}`, '0/1'],
  [
    'pods that are not ready, since a listener is dark',
    dark,
    0,
    `MinimumReplicasUnavailable: 0 of 2 pods are available, and at least 1 must be. ${darkText}`,
    '0/1',
  ],
  [
    'no store of sessions',
    noSessions,
    2,
    `RedisUnavailable: 2 of 2 pods are available. ${loss} The pods report: ${redis.name}: ${redis.why}.`,
    '1/1',
  ],
  [
    'one pod without its store of sessions',
    observe(1, ['sessions']),
    2,
    `MinimumReplicasAvailable: 2 of 2 pods are available. ${loss} 1 of 2 pods report: `,
    '1/1',
  ],
  [
    'no store of answers',
    observe(1, ['cache'], ['cache']),
    2,
    'MinimumReplicasAvailable: 2 of 2 pods are available. The store of cached answers is not',
    '1/1',
  ],
])('Available, Ready and the column: %s', (_, view, ready, available, serving) => {
  const status = statusOf([view, view], ready)
  expect(textOf(status, 'Available')).toContain(available)
  expect(status.summary?.serving).toBe(serving)
  const isAvailable = available.startsWith('MinimumReplicasAvailable')
  expect(textOf(status, 'Ready')).toContain(isAvailable ? 'Ready: ' : 'NotAvailable: Available is')
})

test.each([
  ['a lost store', noSessions, 'RedisUnavailable'],
  ['a dark listener', dark, 'ListenersDark'],
])('%s counts once two observations agree, and as long as they did', (_, view, reason) => {
  let status: RpcRouterStatus = {}
  const reasons = [[view], [fine, view], [view, view], [], [view, fine], [fine, fine]].map(
    (views) => {
      status = statusOf(views, 2, status)
      return textOf(status, 'Available').split(':')[0]
    },
  )
  const well = 'MinimumReplicasAvailable'
  expect(reasons).toEqual([well, well, reason, reason, reason, well])
})
