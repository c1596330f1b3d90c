// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeUrlConfig, UpstreamConfig } from '../config/types.ts'
import { Availability } from './availability.ts'
import { Cooldown } from './cooldown.ts'
import { NodeUrl } from './node-url.ts'
import { Pool, type PoolOptions } from './pool.ts'
import type { SocketTransport } from './transport.ts'
import type { Transport } from './transport.ts'
import { Upstream } from './upstream.ts'

export interface CreatePoolOptions extends PoolOptions {
  readonly failureThreshold: number
  readonly createTransport: (url: NodeUrlConfig) => Transport
  /** For ws and wss URLs. */
  readonly createSocketTransport: (url: NodeUrlConfig) => SocketTransport
}

/** Makes the upstreams of one chain and interface from its part of the config. Nothing is sent yet. */
export function createPool(configs: readonly UpstreamConfig[], options: CreatePoolOptions): Pool {
  const { clock, random, observer, failureThreshold } = options
  const { createTransport, createSocketTransport } = options
  const upstreams = configs.map((config) => {
    const availability = new Availability(failureThreshold, (from, to, why) => {
      if (to === 'eligible' && from !== 'unverified') upstream.rejoined()
      observer.stateChanged(config.name, from, to, why)
      pool.changed()
    })
    const cooldownOf = ({ url }: NodeUrlConfig) =>
      new Cooldown(clock, random, (forMs) => {
        observer.cooldownBegan(config.name, url.toString(), forMs)
      })
    const sockets = config.nodeUrls
      .filter(isSocketUrl)
      .map((url) => new NodeUrl(url, createSocketTransport(url), cooldownOf(url)))
    const others = config.nodeUrls
      .filter((url) => !isSocketUrl(url))
      .map((url) => new NodeUrl(url, createTransport(url), cooldownOf(url)))
    const urls = others.length > 0 ? others : sockets
    const upstream = new Upstream(config, { urls, sockets }, availability, clock)
    return upstream
  })
  const pool = new Pool(upstreams, options)
  return pool
}

function isSocketUrl({ scheme }: NodeUrlConfig): boolean {
  return scheme === 'ws' || scheme === 'wss'
}
