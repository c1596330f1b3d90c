// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../../chain/load-catalog.ts'
import type { BlockRef } from '../../chain/types.ts'
import { seededRandom } from '../../clock/testing/seeded-random.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { NodeUrlConfig, Strategy } from '../../config/types.ts'
import { ChainTracker } from '../../tracker/chain-tracker.ts'
import { createPool, type Pool, type PoolOptions } from '../pool.ts'
import type { Upstream } from '../upstream.ts'
import type { Wanted } from '../wanted.ts'
import { nodeUrlConfig } from './node-url-config.ts'
import { ScriptedTransport } from './scripted-transport.ts'

export const chain = (await loadCatalog([])).find('ETH1')!
const iface = chain.interfaces.get('jsonrpc')!

export const latest: BlockRef = { kind: 'tag', tag: 'latest' }
export const number = (height: number): BlockRef => ({ kind: 'number', number: height })

/** A pool of upstreams by name, where `y` and `z` are backups. By default all are verified. */
export class PoolFixture {
  readonly clock = new VirtualClock()
  readonly events: string[] = []
  readonly pool: Pool
  readonly tried = new Set<string>()

  constructor(
    names: string,
    urlOf: (name: string) => Partial<NodeUrlConfig> = () => ({}),
    more: Partial<PoolOptions> & { readonly isUnverified?: boolean } = {},
  ) {
    const { clock } = this
    const maxSessions = 10
    this.pool = createPool(
      [...names].map((name) => ({
        name,
        tier: 'yz'.includes(name) ? 'backup' : 'primary',
        chainId: chain.id,
        apiInterface: 'jsonrpc',
        nodeUrls: [nodeUrlConfig(`http://${name}.test`, urlOf(name))],
      })),
      {
        ...{ chain, iface, maxSessions, clock },
        tracker: new ChainTracker({ chain, clock }),
        config: { now: { strategy: 'balanced' } },
        random: seededRandom(1),
        observer: {
          stateChanged: (name, from, { state }) => this.events.push(`${name}: ${from} > ${state}`),
          cooldownBegan: () => {},
          verificationFailed: () => {},
        },
        failureThreshold: 2,
        createTransport: () => new ScriptedTransport(clock, () => ({})),
        createSocketTransport: () => {
          throw new Error('no WebSocket URL is configured')
        },
        ...more,
      },
    )
    if (more.isUnverified) return
    for (const name of names) this.verify(name)
    this.events.length = 0
  }

  verify(name: string): void {
    const upstream = this.upstream(name)
    for (const url of upstream.urls) url.verified = true
    upstream.availability.verified()
  }

  upstream(name: string): Upstream {
    return this.pool.upstreams.find((each) => each.name === name)!
  }

  /** Makes an upstream report its head, for a request from `sentBeforeMs` ago. */
  sees(name: string, block: number, sentBeforeMs = 0): void {
    const upstream = this.upstream(name)
    const sentMs = this.clock.nowMs() - sentBeforeMs
    this.pool.observeHead(upstream, block, sentMs, upstream.urls[0]!)
  }

  wanted(different: Partial<Wanted> = {}): Wanted {
    return {
      addons: [],
      block: { kind: 'none' },
      byHash: false,
      prefer: null,
      excluded: [],
      tried: (name) => this.tried.has(name),
      untriedOnly: false,
      ...different,
    }
  }

  /** Names of all upstreams that 300 selections return, sorted. */
  chosen(different: Partial<Wanted> = {}, strategy: Strategy = 'balanced'): string {
    const names = new Set<string>()
    for (let each = 0; each < 300; each++)
      names.add(this.pool.pick.next(this.wanted(different), strategy)?.name ?? '-')
    return [...names].toSorted().join('')
  }

  /** Names of consecutively selected upstreams. */
  turns(
    count: number,
    different: Partial<Wanted> = {},
    strategy: Strategy = 'round-robin',
  ): string {
    const turn = () => this.pool.pick.next(this.wanted(different), strategy)?.name ?? '-'
    return Array.from({ length: count }, turn).join('')
  }

  disable(name: string): void {
    const upstream = this.upstream(name)
    for (const url of upstream.urls) upstream.failed(url, { reason: 'reset', weight: 2 })
  }

  cooldown(name: string): void {
    for (const url of this.upstream(name).urls) url.cooldown.begin(30_000)
  }
}
