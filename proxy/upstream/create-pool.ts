// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeUrlConfig, UpstreamConfig } from '../config/types.ts'
import { Availability } from './availability.ts'
import { HoldOff } from './hold-off.ts'
import { NodeUrl } from './node-url.ts'
import { Pool, type PoolOptions } from './pool.ts'
import type { Transport } from './transport.ts'
import { Upstream } from './upstream.ts'

export interface CreatePoolOptions extends PoolOptions {
  readonly failureThreshold: number
  readonly createTransport: (url: NodeUrlConfig) => Transport
}

/** Makes the upstreams of one chain and interface from its part of the config. Nothing is sent yet. */
export function createPool(configs: readonly UpstreamConfig[], options: CreatePoolOptions): Pool {
  const { clock, random, observer, failureThreshold, createTransport } = options
  const upstreams = configs.map((config) => {
    const availability = new Availability(failureThreshold, (from, to, why) => {
      if (from === 'disabled' && to === 'eligible') upstream.rejoined()
      observer.stateChanged(config.name, from, to, why)
    })
    const urls = config.nodeUrls.map(
      (url) => new NodeUrl(url, createTransport(url), new HoldOff(clock, random)),
    )
    const upstream = new Upstream(config, urls, availability, clock)
    return upstream
  })
  return new Pool(upstreams, options)
}
