// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { OperatorHarness } from '../controllers/testing/operator-harness.ts'
import type { Page } from '../kube/page.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { configMaps, networkPolicies, pods, upstreamProviders } from '../resources/kinds.ts'

/** Pods by IP address, with the states of their upstreams. Other addresses do not respond. */
class Pods {
  readonly states = new Map<string, Readonly<Record<string, string>>>()
  readonly requests: string[] = []
  mostAtOnce = 0
  #now = 0
  readonly harness = new OperatorHarness(new FakeApiServer(), null, (ip) => this.#answer(ip))

  /** Starts a pod of a router; `labels` override its own. */
  run(name: string, ip: string, labels: object = {}, status: object = {}): void {
    const usual = {
      'app.kubernetes.io/managed-by': 'rpc-router-operator',
      'app.kubernetes.io/instance': 'r',
      'app.kubernetes.io/component': 'router',
    }
    const metadata = { namespace: 'ns', name, labels: { ...usual, ...labels } }
    const running = { phase: 'Running', podIP: ip, ...status }
    this.harness.api.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    this.harness.api.putStatus(pods, metadata, running)
  }

  health(provider: string): string {
    const { Healthy = '' } = this.harness.conditions(upstreamProviders, provider)
    return Healthy.split('@')[0] ?? ''
  }

  get statusWrites(): number {
    return this.harness.api.requests.filter(
      ({ verb, plural }) => verb === 'patch' && plural === upstreamProviders.plural,
    ).length
  }

  /** Hash of the config that the operator applied. All pods serve it. */
  get #sha256(): string {
    const [name] = this.harness.names(configMaps)
    const text = name ? this.harness.get(configMaps, name).data?.['router.yml'] : ''
    return createHash('sha256')
      .update(text ?? '')
      .digest('hex')
  }

  async #answer(ip: string): Promise<Page> {
    this.requests.push(ip)
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#now)
    await new Promise<void>((resolve) => void this.harness.clock.after(10, resolve))
    this.#now -= 1
    const states = this.states.get(ip)
    if (states === undefined) return { problem: 'ECONNREFUSED' }
    const upstreams = Object.entries(states).map(([name, state]) => ({
      ...{ chain: 'ETH1', interface: 'jsonrpc', name, tier: 'primary', state },
      since: '2026-01-01T00:00:00.000Z',
    }))
    return { text: JSON.stringify({ config: { sha256: this.#sha256 }, upstreams }) }
  }
}

/** Starts a router with the providers a and b, and two pods that use both. */
async function twoPods() {
  const fleet = new Pods()
  const { harness } = fleet
  harness.provider('a')
  harness.provider('b')
  harness.router('r')
  for (const ip of ['10.0.0.1', '10.0.0.2']) {
    fleet.run(`pod-${ip}`, ip)
    fleet.states.set(ip, { a: 'eligible', b: 'eligible' })
  }
  await harness.pass()
  return fleet
}

const roundMs = 30_500

test('the status follows two consecutive observations, and is written only then', async () => {
  const fleet = await twoPods()
  await using harness = fleet.harness
  await harness.pass(roundMs)
  expect([fleet.health('a'), fleet.health('b')]).toEqual(['True/Serving', 'True/Serving'])
  for (const ip of fleet.states.keys()) fleet.states.set(ip, { a: 'disabled', b: 'eligible' })
  await harness.pass(roundMs)
  expect(fleet.health('a')).toBe('True/Serving')
  await harness.pass(roundMs)
  expect([fleet.health('a'), fleet.health('b')]).toEqual(['False/Disabled', 'True/Serving'])
  expect(harness.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^False\/NotHealthy/)
  const written = fleet.statusWrites
  await harness.pass(10 * roundMs)
  expect(fleet.statusWrites).toBe(written)
  expect(harness.failures).toEqual([])
})

test('a state that changes between observations is never written', async () => {
  const fleet = await twoPods()
  await using harness = fleet.harness
  await harness.pass(roundMs)
  const written = fleet.statusWrites
  for (let round = 0; round < 10; round++) {
    fleet.states.set('10.0.0.2', { a: round % 2 === 0 ? 'cooldown' : 'eligible', b: 'eligible' })
    await harness.pass(roundMs - 500)
  }
  expect(fleet.statusWrites).toBe(written)
})

test('health reports pods that differ, silent pods and a fleet without pods', async () => {
  const fleet = await twoPods()
  await using harness = fleet.harness
  fleet.states.set('10.0.0.2', { a: 'rejected', b: 'eligible' })
  await harness.pass(2 * roundMs)
  expect(fleet.health('a')).toBe('False/PodsDiffer')
  fleet.states.delete('10.0.0.1')
  await harness.pass(2 * roundMs)
  expect([fleet.health('a'), fleet.health('b')]).toEqual(['False/Rejected', 'True/Serving'])
  fleet.states.clear()
  await harness.pass(2 * roundMs)
  expect(harness.conditions(upstreamProviders, 'b')['Healthy']).toMatch(
    /^Unknown\/NotObserved@1: .*no pod answers at :7779\/status: ECONNREFUSED\.$/,
  )
  for (const name of harness.names(pods)) harness.remove(pods, name)
  await harness.pass(2 * roundMs)
  expect(harness.conditions(upstreamProviders, 'b')['Healthy']).toContain('no pod runs')
})

test('the observer asks only running pods of the router, four at a time, every 30 s', async () => {
  const fleet = await twoPods()
  await using harness = fleet.harness
  fleet.run('of-another', '10.0.1.1', { 'app.kubernetes.io/instance': 'other' })
  fleet.run('redis', '10.0.1.2', { 'app.kubernetes.io/component': 'redis' })
  fleet.run('foreign', '10.0.1.3', { 'app.kubernetes.io/managed-by': 'else' })
  fleet.run('pending', '10.0.1.4', {}, { phase: 'Pending' })
  for (let at = 10; at < 40; at++) fleet.run(`pod-${at}`, `10.0.0.${at}`)
  await harness.pass(roundMs)
  fleet.requests.length = 0
  fleet.mostAtOnce = 0
  await harness.pass(60_300)
  expect(fleet.requests.length).toBe(2 * 32)
  expect(fleet.requests.filter((ip) => !ip.startsWith('10.0.0.'))).toEqual([])
  expect(fleet.mostAtOnce).toBe(4)
  harness.remove({ ...pods, plural: 'rpcrouters' }, 'r')
  await harness.pass(roundMs)
  fleet.requests.length = 0
  await harness.pass(2 * roundMs)
  expect(fleet.requests).toEqual([])
})

const silence = (_: string, signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

test('a new leader keeps the health in the status until it has two observations', async () => {
  const first = await twoPods()
  for (const ip of first.states.keys()) first.states.set(ip, { a: 'rejected', b: 'eligible' })
  await first.harness.pass(2 * roundMs)
  const { api } = first.harness
  await first.harness[Symbol.asyncDispose]()
  await using second = new OperatorHarness(api, null, silence)
  await second.pass(2 * roundMs)
  expect(second.conditions(upstreamProviders, 'a')['Healthy']).toMatch(/^False\/Rejected/)
  await using third = new OperatorHarness(api)
  await third.pass()
  expect(third.conditions(upstreamProviders, 'a')['Healthy']).toMatch(/^Unknown\/NotObserved/)
})

test('a NetworkPolicy with monitoring clients also admits the operator', async () => {
  const scraper = { podSelector: { matchLabels: { app: 'prometheus' } } }
  const spec = { networkPolicy: { enabled: true, monitoring: [scraper] } }
  const peersOf = async (harness: OperatorHarness) => {
    harness.provider('a')
    harness.router('r', spec)
    await harness.pass()
    return harness.get(networkPolicies, 'r-router').spec.ingress[1]?.from
  }
  const { harness: observing } = new Pods()
  expect(await peersOf(observing)).toEqual([
    scraper,
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'system' } },
      podSelector: {
        matchLabels: {
          'app.kubernetes.io/component': 'operator',
        },
      },
    },
  ])
  await observing[Symbol.asyncDispose]()
  await using blind = new OperatorHarness()
  expect(await peersOf(blind)).toEqual([scraper])
})
