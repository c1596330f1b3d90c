// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Page } from '../kube/page.ts'
import { FakeApiServer } from '../kube/testing/fake-api-server.ts'
import { configMaps, networkPolicies, pods, upstreamProviders } from '../resources/kinds.ts'
import { OperatorHarness } from './testing/operator-harness.ts'

/** Pods at IP addresses, each with the states of its upstreams; an address that is missing does not answer. */
class Pods {
  readonly states = new Map<string, Readonly<Record<string, string>>>()
  readonly requests: string[] = []
  mostAtOnce = 0
  #now = 0
  readonly desk = new OperatorHarness(new FakeApiServer(), null, (ip) => this.#answer(ip))

  /** A pod of a router, with `labels` over those that it has. */
  run(name: string, ip: string, labels: object = {}, status: object = {}): void {
    const usual = {
      'app.kubernetes.io/managed-by': 'rpc-router-operator',
      'app.kubernetes.io/instance': 'r',
      'app.kubernetes.io/component': 'router',
    }
    const metadata = { namespace: 'ns', name, labels: { ...usual, ...labels } }
    const running = { phase: 'Running', podIP: ip, ...status }
    this.desk.keeper.put(pods, { apiVersion: 'v1', kind: 'Pod', metadata })
    this.desk.keeper.putStatus(pods, metadata, running)
  }

  health(provider: string): string {
    const { Healthy = '' } = this.desk.conditions(upstreamProviders, provider)
    return Healthy.split('@')[0] ?? ''
  }

  get statusWrites(): number {
    return this.desk.keeper.requests.filter(
      ({ verb, plural }) => verb === 'patch' && plural === upstreamProviders.plural,
    ).length
  }

  /** They serve what the operator has applied. */
  get #sha256(): string {
    const [name] = this.desk.names(configMaps)
    const text = name ? this.desk.get(configMaps, name).data?.['router.yml'] : ''
    return createHash('sha256')
      .update(text ?? '')
      .digest('hex')
  }

  async #answer(ip: string): Promise<Page> {
    this.requests.push(ip)
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#now)
    await new Promise<void>((resolve) => void this.desk.clock.after(10, resolve))
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

/** A router with the providers a and b, and two pods that serve with both. */
async function twoPods() {
  const fleet = new Pods()
  const { desk } = fleet
  desk.provider('a')
  desk.provider('b')
  desk.router('r')
  for (const ip of ['10.0.0.1', '10.0.0.2']) {
    fleet.run(`pod-${ip}`, ip)
    fleet.states.set(ip, { a: 'eligible', b: 'eligible' })
  }
  await desk.pass()
  return fleet
}

const looks = 30_500

test('what two looks in a row find is in the status, and no more is written', async () => {
  const fleet = await twoPods()
  await using desk = fleet.desk
  await desk.pass(looks)
  expect([fleet.health('a'), fleet.health('b')]).toEqual(['True/Serving', 'True/Serving'])
  for (const ip of fleet.states.keys()) fleet.states.set(ip, { a: 'disabled', b: 'eligible' })
  await desk.pass(looks)
  expect(fleet.health('a')).toBe('True/Serving')
  await desk.pass(looks)
  expect([fleet.health('a'), fleet.health('b')]).toEqual(['False/Disabled', 'True/Serving'])
  expect(desk.conditions(upstreamProviders, 'a')['Ready']).toMatch(/^False\/NotHealthy/)
  const written = fleet.statusWrites
  await desk.pass(10 * looks)
  expect(fleet.statusWrites).toBe(written)
  expect(desk.failures).toEqual([])
})

test('what comes and goes between looks is never written', async () => {
  const fleet = await twoPods()
  await using desk = fleet.desk
  await desk.pass(looks)
  const written = fleet.statusWrites
  for (let round = 0; round < 10; round++) {
    fleet.states.set('10.0.0.2', { a: round % 2 === 0 ? 'held-off' : 'eligible', b: 'eligible' })
    await desk.pass(looks - 500)
  }
  expect(fleet.statusWrites).toBe(written)
})

test('pods that differ, pods that are silent, and a fleet that is gone', async () => {
  const fleet = await twoPods()
  await using desk = fleet.desk
  fleet.states.set('10.0.0.2', { a: 'rejected', b: 'eligible' })
  await desk.pass(2 * looks)
  expect(fleet.health('a')).toBe('False/PodsDiffer')
  fleet.states.delete('10.0.0.1')
  await desk.pass(2 * looks)
  expect([fleet.health('a'), fleet.health('b')]).toEqual(['False/Rejected', 'True/Serving'])
  fleet.states.clear()
  await desk.pass(2 * looks)
  expect(desk.conditions(upstreamProviders, 'b')['Healthy']).toMatch(
    /^Unknown\/NotObserved@1: .*no pod answers at :7779\/status: ECONNREFUSED\.$/,
  )
  for (const name of desk.names(pods)) desk.remove(pods, name)
  await desk.pass(2 * looks)
  expect(desk.conditions(upstreamProviders, 'b')['Healthy']).toContain('no pod runs')
})

test('only running pods of the router are asked, a few at once, every 30 s', async () => {
  const fleet = await twoPods()
  await using desk = fleet.desk
  fleet.run('of-another', '10.0.1.1', { 'app.kubernetes.io/instance': 'other' })
  fleet.run('redis', '10.0.1.2', { 'app.kubernetes.io/component': 'redis' })
  fleet.run('foreign', '10.0.1.3', { 'app.kubernetes.io/managed-by': 'else' })
  fleet.run('pending', '10.0.1.4', {}, { phase: 'Pending' })
  for (let at = 10; at < 40; at++) fleet.run(`pod-${at}`, `10.0.0.${at}`)
  await desk.pass(looks)
  fleet.requests.length = 0
  fleet.mostAtOnce = 0
  await desk.pass(60_300)
  expect(fleet.requests.length).toBe(2 * 32)
  expect(fleet.requests.filter((ip) => !ip.startsWith('10.0.0.'))).toEqual([])
  expect(fleet.mostAtOnce).toBe(4)
  desk.remove({ ...pods, plural: 'rpcrouters' }, 'r')
  await desk.pass(looks)
  fleet.requests.length = 0
  await desk.pass(2 * looks)
  expect(fleet.requests).toEqual([])
})

const silence = (_: string, signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

test('the operator that takes over keeps what the status says, until it has looked twice', async () => {
  const first = await twoPods()
  for (const ip of first.states.keys()) first.states.set(ip, { a: 'rejected', b: 'eligible' })
  await first.desk.pass(2 * looks)
  const { keeper } = first.desk
  await first.desk[Symbol.asyncDispose]()
  await using second = new OperatorHarness(keeper, null, silence)
  await second.pass(2 * looks)
  expect(second.conditions(upstreamProviders, 'a')['Healthy']).toMatch(/^False\/Rejected/)
  await using third = new OperatorHarness(keeper)
  await third.pass()
  expect(third.conditions(upstreamProviders, 'a')['Healthy']).toMatch(/^Unknown\/NotObserved/)
})

test('a NetworkPolicy that names who may scrape lets the operator in, too', async () => {
  const scraper = { podSelector: { matchLabels: { app: 'prometheus' } } }
  const spec = { networkPolicy: { enabled: true, monitoring: [scraper] } }
  const peersOf = async (desk: OperatorHarness) => {
    desk.provider('a')
    desk.router('r', spec)
    await desk.pass()
    return desk.get(networkPolicies, 'r-router').spec.ingress[1]?.from
  }
  const { desk: looking } = new Pods()
  expect(await peersOf(looking)).toEqual([
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
  await looking[Symbol.asyncDispose]()
  await using blind = new OperatorHarness()
  expect(await peersOf(blind)).toEqual([scraper])
})
