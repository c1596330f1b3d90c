// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { FleetView } from './fleet-view.ts'
import { rolloutStop } from './rollout-stop.ts'

type Chains = Readonly<Record<string, number>>

/** @param chains how many upstreams serve, or for how many seconds the listener has been dark */
function pod(template: string, chains: Chains): FleetView['pods'][number] {
  const listeners = Object.entries(chains).map(([chain, count]) => {
    const serving = Math.max(0, count)
    const darkMs = count > 0 ? null : -count * 1_000
    return { chain, interface: 'jsonrpc', serving, total: 2, darkMs, why: 'a: HTTP 401' }
  })
  const config = { configSha256: '', isRefusing: false, upstreams: [] }
  return { pod: `${template}-pod`, template, ...config, listeners }
}
const fleet = (...pods: FleetView['pods'][number][]): FleetView => ({ pods, silent: [] })
const partly = (view: FleetView): FleetView => {
  return { ...view, silent: [{ pod: 'p', problem: 'timeout' }] }
}

const old = pod('old', { ETH1: 2, BTC: 1 })
const dark = pod('new', { ETH1: 2, BTC: -20 })
const stops = 'Pod new-pod cannot reach BTC jsonrpc: a: HTTP 401'

test.each<[string, FleetView | undefined, string | null, string | null]>([
  ['nothing was observed', undefined, null, 'unknown'],
  ['new pods serve all', fleet(old, pod('new', { ETH1: 1, BTC: 1 })), null, null],
  ['a new pod is dark where an old one serves', fleet(old, dark), stops, stops],
  ['the same, and a pod is silent', partly(fleet(old, dark)), stops, stops],
  ['a new pod has just started', fleet(old, pod('new', { ETH1: 2, BTC: -19 })), null, stops],
  ['old pods are dark too', fleet(pod('old', { ETH1: 2, BTC: -50 }), dark), null, null],
  ['the same, and a pod is silent', partly(fleet(dark)), null, 'unknown'],
  ['new pods serve all, and a pod is silent', partly(fleet(pod('new', { BTC: 1 }))), null, null],
  ['a chain is new', fleet(pod('old', { ETH1: 1 }), dark), null, null],
  ['there are no old pods', fleet(dark), null, null],
  ['no new pod answers', fleet(old), null, 'unknown'],
  ['no pod answers', partly(fleet()), null, 'unknown'],
  ['there are no pods', fleet(), null, null],
])('%s', (_, view, running, stopped) => {
  const of = (isStopped: boolean) => {
    const stop = rolloutStop(view, 'new', isStopped)
    return stop === null ? null : (stop.problem ?? 'unknown')
  }
  expect([of(false), of(true)]).toEqual([running, stopped])
})

test('without its ReplicaSet, a rollout stays as it is', () => {
  expect(rolloutStop(fleet(old, dark), undefined, false)).toBeNull()
  expect(rolloutStop(fleet(old, dark), undefined, true)).toEqual({ problem: null })
})
