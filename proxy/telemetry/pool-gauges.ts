// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import { upstreamStates } from '../upstream/observer.ts'
import { isServing, type PoolSnapshot, type UpstreamSnapshot } from '../upstream/snapshot.ts'
import type { Labels } from './cells.ts'
import { series } from './series.ts'
import type { Series } from './series.ts'

type Say = (labels: Labels, value: number | null) => void

/** Gauges that mirror the pools: read when somebody scrapes, and costing nothing in between. */
export class PoolGauges {
  readonly #pools: { listener: Labels; snapshot: () => PoolSnapshot }[] = []
  /** By chain and interface: how many relays fail calls at once, until the next call finds somebody. */
  readonly #openBreakers = new Map<string, number>()

  constructor(registry: Registry) {
    const mirror = (one: Series, tell: (say: Say) => void): void => {
      new Gauge({
        name: one.name,
        help: one.help,
        labelNames: one.labels,
        registers: [registry],
        collect() {
          this.reset()
          tell((labels, value) => {
            if (value !== null) this.set(labels, value)
          })
        },
      })
    }
    const mirrorUpstreams = (one: Series, value: (upstream: UpstreamSnapshot) => number | null) => {
      mirror(one, (say) => {
        this.#eachUpstream((labels, upstream) => {
          say(labels, value(upstream))
        })
      })
    }
    mirror(series.tip, (say) => {
      for (const { listener, snapshot } of this.#pools) say(listener, snapshot().tip)
    })
    mirror(series.breakerOpen, (say) => {
      for (const { listener, snapshot } of this.#pools) {
        const open = this.#openBreakers.get(keyOf(listener)) ?? 0
        const isEmpty = !snapshot().upstreams.some(({ state }) => isServing(state))
        say(listener, open > 0 && isEmpty ? 1 : 0)
      }
    })
    mirror(series.upstreamState, (say) => {
      this.#eachUpstream((labels, upstream) => {
        for (const state of upstreamStates)
          say({ ...labels, state }, upstream.state === state ? 1 : 0)
      })
    })
    mirrorUpstreams(series.sessions, (upstream) => upstream.sessions)
    mirrorUpstreams(series.latestBlock, (upstream) => upstream.latestBlock)
    mirrorUpstreams(series.lagBlocks, (upstream) => upstream.lagBlocks)
    mirrorUpstreams(series.lagSeconds, (upstream) => upstream.lagSeconds)
    mirrorUpstreams(series.score, (upstream) => upstream.score)
    mirrorUpstreams(series.urlsHeldOff, (upstream) => upstream.urlsHeldOff)
  }

  register(listener: Labels, snapshot: () => PoolSnapshot): void {
    this.#pools.push({ listener, snapshot })
  }

  /** One relay of a chain and interface has begun or ceased to fail calls at once. */
  breakerChanged(listener: Labels, open: boolean): void {
    const key = keyOf(listener)
    this.#openBreakers.set(key, (this.#openBreakers.get(key) ?? 0) + (open ? 1 : -1))
  }

  #eachUpstream(visit: (labels: Labels, upstream: UpstreamSnapshot) => void): void {
    for (const { listener, snapshot } of this.#pools)
      for (const upstream of snapshot().upstreams)
        visit({ ...listener, upstream: upstream.name, tier: upstream.tier }, upstream)
  }
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join(' ')
}
