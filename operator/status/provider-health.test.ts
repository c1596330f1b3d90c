// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import type { Condition } from '../api/status.ts'
import { upstreamProviderSchema } from '../api/upstream-provider.ts'
import { type FleetView, podView } from './fleet-view.ts'
import { healthIn } from './provider-health.ts'
import { providerStatus, type RouterResult } from './provider-status.ts'

const upstream = { chain: 'ETH1', interface: 'jsonrpc', name: 'a' }
const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`

/** An observation of pods, each with the state of its upstream, the minute it began and why. */
function observe(
  ...pods: readonly (readonly [state: string, minute: number, why?: string | null])[]
): FleetView {
  return {
    pods: pods.map(([state, minute, why], index) => ({
      pod: `p${index}`,
      configSha256: '',
      isRefusing: false,
      upstreams: [{ ...upstream, state, since: at(minute), why }],
    })),
    silent: [],
  }
}
const silent = (problem: string): FleetView => ({ pods: [], silent: [{ pod: 'p', problem }] })

function before(reason: string, message: string, status: Condition['status'] = 'False'): Condition {
  return { type: 'Healthy', status, reason, message, lastTransitionTime: at(0) }
}
const failed = before('Disabled', 'Since a while ago.')

const disabledText = 'Too many consecutive failures: calls go elsewhere until it answers'

const up = observe(['eligible', 1], ['eligible', 2])
const down = observe(['disabled', 3], ['disabled', 2])
const half = observe(['eligible', 1], ['disabled', 2])

describe.each<[string, readonly FleetView[] | null, Condition | undefined, string]>([
  [
    'an operator that does not observe pods',
    null,
    failed,
    'NotObserved: Unknown: the operator does not observe',
  ],
  ['no observation yet', [], undefined, 'NotObserved: Unknown: the first check is still running'],
  ['no observation yet by a new leader', [], failed, 'Disabled: Since a while ago.'],
  ['one observation', [up], failed, 'Disabled: Since a while ago.'],
  [
    'two equal observations',
    [up, up],
    failed,
    'Serving: Its node answers, and calls go to it. Since 2026-01-01T00:01:00Z.',
  ],
  [
    'a state of all pods, with the earliest start',
    [down, down],
    undefined,
    'Disabled: Too many consecutive failures: calls go elsewhere until it answers. Since 2026-01-01T00:02:00Z.',
  ],
  [
    'the same reason as before in the same words',
    [down, down],
    before('Disabled', `${disabledText}. Since 2025-12-31T00:00:00Z.`),
    'Since 2025-12-31T00:00:00Z.',
  ],
  ['the same reason in other words', [down, down], failed, `Disabled: ${disabledText}. Since 2026`],
  [
    'words that change with each observation',
    [observe(['disabled', 2, 'after 3 s']), observe(['disabled', 2, 'after 4 s'])],
    failed,
    'Disabled: Since a while ago.',
  ],
  ['different observations', [up, down], failed, 'Disabled: Since a while ago.'],
  [
    'different first observations',
    [up, down],
    undefined,
    'NotObserved: Unknown: the first check is still running',
  ],
  ['pods that differ', [half, half], failed, 'PodsDiffer: Of 2 pods, it is Disabled in 1, Serving'],
  [
    'pods that do not answer',
    [silent('x'), silent('x')],
    failed,
    'NotObserved: Unknown: no pod answers at :7779/status: x.',
  ],
  ['no pods', [observe(), observe()], failed, 'NotObserved: Unknown: no pod runs.'],
  ['a state of newer routers', [observe(['new', 1]), observe(['new', 1])], failed, 'NotObserved'],
  [
    'invalid states in some pods',
    [observe(['constructor', 1], ['eligible', 1]), observe(['__proto__', 1], ['eligible', 1])],
    failed,
    'Serving: ',
  ],
])('%s', (_, observations, known, expected) => {
  const found = healthIn(observations, upstream, known)

  test('is reported', () => expect(`${found.reason}: ${found.message}`).toContain(expected))

  test('does not change the next time', () => {
    const settled = { ...found, lastTransitionTime: at(0) }
    expect(healthIn(observations, upstream, settled)).toBe(settled)
  })
})

test('pods without the upstream and other upstreams of the same name do not count', () => {
  const others = [
    { ...upstream, chain: 'BTC', state: 'rejected', since: at(1) },
    { ...upstream, interface: 'rest', state: 'rejected', since: at(1) },
    { ...upstream, state: 'eligible', since: at(1) },
  ]
  const pods = [
    { pod: 'old', configSha256: '', isRefusing: false, upstreams: [] },
    { pod: 'new', configSha256: '', isRefusing: false, upstreams: others },
  ]
  const view = { pods, silent: [] }
  expect(healthIn([view, view], upstream, undefined).reason).toBe('Serving')
  // The chain may have another name if only one upstream has this name.
  const alias = observe(['eligible', 1])
  expect(healthIn([alias, alias], { ...upstream, chain: 'ETH' }, undefined).reason).toBe('Serving')
})

const unreached = observe(['unverified', 1])
const gone = observe(['disabled', 1], ['unverified', 2])
const provider = upstreamProviderSchema.parse({
  apiVersion: 'rpcrouter.dev/v1alpha1',
  kind: 'UpstreamProvider',
  metadata: { namespace: 'ns', name: 'a', uid: 'u', generation: 1 },
  spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url: 'https://a.example' }] },
})

function conditionsWith(...views: readonly FleetView[]) {
  const routers = views.map((view, index): RouterResult => {
    return { router: `r${index}`, refusals: [], usage: 'used', observations: [view, view] }
  })
  const status = providerStatus({
    ...{ provider, upstream, refusals: [], unresolvedRefs: [], routers, now: at(9) },
  })
  const all = (status.conditions ?? []).map(({ type, reason }) => [type, reason] as const)
  return {
    ...Object.fromEntries(all),
    routers: status.routers?.map(
      ({ conditions = [] }) => conditions.find(({ type }) => type === 'Healthy')?.reason,
    ),
  }
}

test.each([
  ['up everywhere', [up, up], 'Serving', 'Ready'],
  ['unknown somewhere', [silent('x'), up], 'Serving', 'Ready'],
  ['down everywhere', [down, down], 'Disabled', 'NotHealthy'],
  ['down in one router', [up, down], 'PodsDiffer', 'Ready'],
  ['down in some pods', [half], 'PodsDiffer', 'Ready'],
  ['down in one pod, unreached by another', [gone], 'Disabled', 'NotHealthy'],
  ['down in one router, unreached by another', [down, unreached], 'Disabled', 'NotHealthy'],
  ['in cooldown', [observe(['cooldown', 1])], 'InCooldown', 'Ready'],
  ['never reached', [observe(['unverified', 1])], 'Unverified', 'NotHealthy'],
  ['unknown', [silent('x')], 'NotObserved', 'Ready'],
])('%s: Healthy and Ready', (_, views, Healthy, Ready) => {
  expect(conditionsWith(...views)).toMatchObject({ Healthy, Ready })
})

test.each([
  ['disabled', 'connection-refused', 'Too many consecutive failures: connection-refused'],
  ['lagging', 'says that it is syncing', 'It is behind the chain: says that it is syncing'],
  [
    'cooldown',
    'rate limited: http-rate-limited (HTTP 429: busy) at https://a.example',
    'All of its URLs are in cooldown: rate limited: http-rate-limited (HTTP 429: busy) at https://a.example',
  ],
  [
    'rejected',
    'https://a.example is not used: chain-id: expected 0x1, the node reported 0x5',
    'None of its URLs passes verification: https://a.example is not used: chain-id: expected 0x1, the node reported 0x5',
  ],
  [
    'unverified',
    'https://a.example is not used: reach: $& timeout',
    'None of its URLs has been verified yet: https://a.example is not used: reach: $& timeout',
  ],
  ['eligible', '2 failures in a row', 'Its node answers, and calls go to it'],
])('the message has the reason of the router: %s', (state, why, message) => {
  // Older routers give no reason.
  const views = observe([state, 1], [state, 3, why], [state, 4, null])
  expect(healthIn([views, views], upstream, undefined).message).toBe(
    `${message}. Since ${at(1).replace('.000', '')}.`,
  )
})

test('each router has its own condition', () => {
  expect(conditionsWith(up, down)).toMatchObject({ routers: ['Serving', 'Disabled'] })
})

const sha256 = 'ab'.repeat(32)
const page = { config: { sha256 }, upstreams: [{ ...upstream, state: 'eligible', since: at(1) }] }

test('a page is parsed, including one with unknown fields', () => {
  const more = { ...page, upstreams: page.upstreams.map((each) => ({ ...each, tip: 1 })), x: 1 }
  const upstreams = page.upstreams
  const config = { configSha256: sha256, isRefusing: false, refusedSha256: null }
  const view = { pod: 'p', ...config, upstreams, listeners: [], stores: [] }
  expect(podView('p', JSON.stringify(more))).toEqual(view)
  const refused = { why: '2 errors, see the log', at: at(1), sha256: 'c0ffee' }
  const refusing = { ...page, config: { ...page.config, refused } }
  const refusal = { isRefusing: true, refusedSha256: 'c0ffee' }
  expect(podView('p', JSON.stringify(refusing))).toEqual({ ...view, ...refusal })
  const retrying = { ...page, config: { ...page.config, refused: { ...refused, retries: true } } }
  expect(podView('p', JSON.stringify(retrying))).toEqual({ ...view, isRefusing: true })
})

test.each([
  ['a reason', 'connection-refused', 'connection-refused'],
  ['no reason', null, null],
  ['a long reason', 'x'.repeat(9_999), 'x'.repeat(256)],
  ['a reason of several lines', 'a\n\u001b[31mb', 'a  [31mb'],
  ['a reason that is not a string', { a: 1 }, null],
])('a page with %s is parsed', (_, why, read) => {
  const upstreams = [{ ...page.upstreams[0], why }]
  expect(podView('p', JSON.stringify({ ...page, upstreams }))?.upstreams[0]?.why).toEqual(read)
})

test.each([
  ['text instead of JSON', 'ready'],
  ['null', 'null'],
  ['no config', JSON.stringify({ ...page, config: null })],
  ['an invalid hash', JSON.stringify({ ...page, config: { sha256: 'x' } })],
  [
    'a long name',
    JSON.stringify({ ...page, upstreams: [{ ...page.upstreams[0], name: 'x'.repeat(999) }] }),
  ],
  [
    'an invalid time',
    JSON.stringify({ ...page, upstreams: [{ ...page.upstreams[0], since: 'now' }] }),
  ],
  [
    'too many upstreams',
    JSON.stringify({ ...page, upstreams: Array(10_001).fill(page.upstreams[0]) }),
  ],
])('a page with %s is refused', (_, text) => expect(podView('p', text)).toBeNull())
