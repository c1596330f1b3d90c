// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Condition } from '../api/status.ts'
import { rpcRouterConditions, upstreamProviderConditions } from '../api/conditions.ts'
import { pausedAnnotation } from '../api/group.ts'
import type { Deployment } from '../resources/kinds.ts'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { invalidProviderStatus, invalidRouterStatus } from './invalid-status.ts'
import { type RouterResult, providerStatus } from './provider-status.ts'
import { type Applied, type RouterObservation, routerStatus } from './router-status.ts'

/*
 * Every reason in the table occurs in a golden file of the translation or in a situation below. The
 * types ensure that no other reason is set.
 */

const now = '2026-01-31T03:00:00Z'
const goldens = join(import.meta.dirname, '../translate/testdata')

function golden(name: string) {
  const scenario = readScenario(readFileSync(join(goldens, `${name}.in.yaml`), 'utf8'))
  return { scenario, translation: translateScenario(scenario) }
}

interface Situation {
  readonly kind: 'RpcRouter' | 'UpstreamProvider'
  readonly conditions: readonly Condition[]
}

function ofRouter(name: string, observed: Partial<RouterObservation> = {}): Situation {
  const { scenario, translation } = golden(name)
  const { conditions = [] } = routerStatus({
    router: scenario.router,
    translation,
    applied: { result: translation.config === null ? 'skipped' : 'applied' },
    deployment: null,
    missingMonitor: null,
    rollsOut: false,
    now,
    ...observed,
  })
  return { kind: 'RpcRouter', conditions }
}

const upstream = { chain: 'ETH1', interface: 'jsonrpc', name: 'a' }

/** Returns two equal observations of pods with the upstream in these states. */
function observed(...states: readonly string[]): Pick<RouterResult, 'observations'> {
  const pods = states.map((state) => ({
    pod: 'p',
    configSha256: '',
    isRefusing: false,
    upstreams: [{ ...upstream, state, since: now }],
  }))
  const view = { pods, silent: [] }
  return { observations: [view, view] }
}

/** Returns the statuses of a golden file's providers, before and after their router's report. */
function ofProviders(name: string, more: Partial<RouterResult> = {}): readonly Situation[] {
  const { scenario, translation } = golden(name)
  return translation.providers.flatMap(({ provider: wanted, refusals, unresolvedRefs, isUsed }) => {
    const provider = scenario.providers.find(({ metadata }) => metadata.name === wanted)
    if (provider === undefined) return []
    const usage = isUsed ? ('used' as const) : ('excluded' as const)
    const result = { router: 'mainnet', refusals, usage, observations: null, ...more }
    const about = { provider, upstream, refusals: [], unresolvedRefs, now }
    const status = providerStatus({ ...about, routers: [result] })
    return [status, ...(status.routers ?? []), providerStatus({ ...about, routers: [] })].map(
      ({ conditions = [] }): Situation => ({ kind: 'UpstreamProvider', conditions }),
    )
  })
}

function deployment(
  counts: { readonly wanted?: number; readonly updated?: number; readonly ready?: number },
  reported: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
  }[] = [],
): Deployment {
  const { wanted = 3, updated = 3, ready = 3 } = counts
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'mainnet-router', generation: 1 },
    spec: { replicas: wanted, selector: {}, template: {} },
    status: {
      observedGeneration: 1,
      replicas: wanted,
      updatedReplicas: updated,
      readyReplicas: ready,
      availableReplicas: ready,
      conditions: [...reported],
    },
  }
}

const progressing = (reason: string) => [{ type: 'Progressing', status: 'True', reason }]
const complete = deployment({}, progressing('NewReplicaSetAvailable'))
const applied = (result: 'conflict' | 'waiting' | 'refused' | 'queued'): Applied => ({
  result,
  message: 'why',
})

function paused(): Situation {
  const { router } = golden('minimal').scenario
  const annotations = { [pausedAnnotation]: 'true' }
  return ofRouter('minimal', {
    router: { ...router, metadata: { ...router.metadata, annotations } },
  })
}

function invalid(): readonly Situation[] {
  const object = { apiVersion: 'v', kind: 'k', metadata: { name: 'old' } }
  const of = { object, faults: 'spec.a: must be b', now }
  return [
    { kind: 'RpcRouter', conditions: invalidRouterStatus(of, null).conditions ?? [] },
    { kind: 'UpstreamProvider', conditions: invalidProviderStatus(of, []).conditions ?? [] },
  ]
}

const dark = {
  pods: [
    {
      ...{ pod: 'p', configSha256: '', isRefusing: false, upstreams: [] },
      listeners: [
        { chain: 'ETH1', interface: 'jsonrpc', serving: 0, total: 1, why: 'why', darkMs: 1 },
      ],
    },
  ],
  silent: [],
}

/** Cases that depend on the apply result and the pods. */
const situations: readonly Situation[] = [
  ofRouter('minimal', { deployment: complete }),
  ofRouter('minimal', { deployment: complete, missingMonitor: 'PodMonitor' }),
  ofRouter('minimal', { deployment: deployment({ updated: 1 }, progressing('ReplicaSetUpdated')) }),
  ofRouter('minimal', { deployment: deployment({}, progressing('ProgressDeadlineExceeded')) }),
  ofRouter('minimal', {
    deployment: deployment({}, [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
    ]),
  }),
  ofRouter('minimal', { deployment: deployment({ ready: 0 }) }),
  ofRouter('minimal', { deployment: deployment({ wanted: 0, updated: 0, ready: 0 }) }),
  ofRouter('minimal', { deployment: complete, lost: [{ component: 'redis', problem: null }] }),
  ofRouter('minimal', { deployment: complete, observations: [dark, dark] }),
  ofRouter('minimal', { deployment: complete, stop: { problem: 'why' } }),
  ofRouter('minimal', { applied: applied('conflict') }),
  ofRouter('minimal', { applied: applied('waiting') }),
  ofRouter('minimal', { applied: applied('refused') }),
  ofRouter('minimal', { applied: applied('queued') }),
  ofRouter('minimal', { behind: [{ pod: 'a-pod', isRefusing: true }] }),
  ofRouter('minimal', { refusedBy: ['a-pod'] }),
  paused(),
  ...ofProviders('minimal', { usage: 'excluded' }),
  ...[
    ...[['eligible'], ['lagging'], ['cooldown'], ['disabled'], ['rejected'], ['unverified']],
    ['eligible', 'disabled'],
  ].flatMap((states) => ofProviders('minimal', observed(...states))),
  ...invalid(),
]

const names = readdirSync(goldens)
  .filter((name) => name.endsWith('.in.yaml'))
  .map((name) => name.replace('.in.yaml', ''))

/** Splits a golden file's refusals, because only the first of several would set the reason. */
function oneByOne(name: string): readonly Situation[] {
  const { translation } = golden(name)
  return translation.refusals.map((refusal) =>
    ofRouter(name, { translation: { ...translation, refusals: [refusal] } }),
  )
}

const all = [
  ...situations,
  ...names.flatMap((name) => [ofRouter(name), ...oneByOne(name), ...ofProviders(name)]),
]
const produced = new Map<string, string>(
  all.flatMap(({ kind, conditions }) =>
    conditions.map(({ type, reason, status }) => [`${kind} ${type} ${reason}`, status] as const),
  ),
)

describe.each([
  ['RpcRouter', rpcRouterConditions],
  ['UpstreamProvider', upstreamProviderConditions],
])('%s', (kind, table) => {
  const reasons = Object.entries(table).flatMap(([type, statuses]) =>
    Object.entries(statuses).map(([reason, status]) => [type, reason, status] as const),
  )

  test.each(reasons)('%s: the reason %s occurs with the status %s', (type, reason, status) => {
    expect(produced.get(`${kind} ${type} ${reason}`)).toBe(status)
  })
})
