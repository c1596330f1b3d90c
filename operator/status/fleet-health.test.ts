// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { listenerIn, type ListenerHealth, lostStoresIn } from './fleet-health.ts'
import { type FleetView, podView } from './fleet-view.ts'
import type { Observations } from './provider-health.ts'

const at = '2026-01-01T00:01:00.000Z'

/** An observation of pods, each with the status page that these listeners and stores make. */
function observe(...pods: readonly { listeners?: object[]; stores?: object[] }[]): FleetView {
  const config = { sha256: 'ab'.repeat(32) }
  const views = pods.map((each, index) =>
    podView(`p${index}`, JSON.stringify({ at, config, upstreams: [], ...each })),
  )
  return { pods: views.flatMap((view) => view ?? []), silent: [] }
}

const listener = (serving: number, why: string | null, chain = 'ETH1') => {
  const darkSince = serving > 0 ? null : '2026-01-01T00:00:15.000Z'
  return { listeners: [{ chain, interface: 'jsonrpc', serving, total: 2, darkSince, why }] }
}
const both = observe(listener(2, null))
const one = observe(listener(1, 'b: HTTP 401'))
const dark = observe(listener(0, 'a: timeout; b: HTTP 401'))
const until = (seconds: number) => observe(listener(1, `b: rate limited for ${seconds} s`))
const known: ListenerHealth = { serving: '1/2', message: 'b: it was so' }

test.each<[string, Observations, ListenerHealth]>([
  ['an operator that observes no pods', null, {}],
  ['no observation yet', [], known],
  ['one observation', [both], known],
  ['two that differ', [one, dark], known],
  ['all serve', [both, both], { serving: '2/2' }],
  ['one does not', [one, one], { serving: '1/2', message: 'b: HTTP 401' }],
  ['dark', [dark, dark], { serving: '0/2', message: 'a: timeout; b: HTTP 401' }],
  ['words that change with each observation', [until(30), until(20)], known],
  ['pods of an older router', [observe({}), observe({})], {}],
  ['another chain', [observe(listener(0, 'x', 'BTC')), observe(listener(0, 'x', 'BTC'))], {}],
  [
    'pods that differ: the best counts',
    [observe(listener(0, 'x'), listener(1, 'b: y')), observe(listener(1, 'b: y'))],
    { serving: '1/2', message: 'b: y' },
  ],
])('a listener: %s', (_, observations, expected) => {
  expect(listenerIn(observations, 'ETH1 jsonrpc', known)).toEqual(expected)
})

test('the time in the dark is by the clock of the pod', () => {
  expect(dark.pods[0]?.listeners).toMatchObject([{ serving: 0, darkMs: 45_000 }])
  expect(one.pods[0]?.listeners).toMatchObject([{ serving: 1, darkMs: null }])
})

describe('stores', () => {
  const store = { name: '10.0.0.7:6379 (resp-cache)', why: 'it refuses the password' }
  const lost = observe({ stores: [{ ...store, feature: 'sessions' }] })
  const slow = observe({ stores: [{ ...store, feature: 'cache' }] })
  const half = observe({}, { stores: [{ ...store, feature: 'sessions' }] })
  const newer = observe({ stores: [{ ...store, feature: 'new' }] })
  const words = `${store.name}: ${store.why}`

  test.each<[string, Observations, ReturnType<typeof lostStoresIn>]>([
    ['an operator that observes no pods', null, []],
    ['no observation yet', [], null],
    ['no pod answers', [observe(), observe()], null],
    ['all answer', [both, both], []],
    ['one failed', [both, lost], null],
    ['one answers again', [lost, both], null],
    ['features of newer routers', [newer, newer], []],
    [
      'sessions fail',
      [lost, lost],
      [{ component: 'redis', isPartial: false, problem: `The pods report: ${words}` }],
    ],
    [
      'sessions fail in some pods',
      [half, half],
      [{ component: 'redis', isPartial: true, problem: `1 of 2 pods report: ${words}` }],
    ],
    [
      'the cache fails',
      [slow, slow],
      [{ component: 'redis-cache', isPartial: false, problem: `The pods report: ${words}` }],
    ],
  ])('%s', (_, observations, expected) => {
    expect(lostStoresIn(observations)).toEqual(expected)
  })
})
