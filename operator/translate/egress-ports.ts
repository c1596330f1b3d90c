// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { redisPort } from './object-names.ts'
import type { RenderedConfig } from './rendered-config.ts'
import type { UpstreamPlan } from './router-document.ts'
import { chooseState } from './state-store.ts'

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['ws', 80],
  ['grpc', 80],
  ['https', 443],
  ['wss', 443],
  ['grpcs', 443],
])

/**
 * The TCP ports that the pods connect to, in order; `any` when a port stands in a Secret. What is no port is left out:
 * the API server would refuse the whole NetworkPolicy for it.
 */
export function egressPorts(router: RpcRouter, config: RenderedConfig): readonly number[] | 'any' {
  const ports = [...upstreamPorts(config), ...storePorts(router), ...sourcePorts(router)]
  if (ports.includes(null)) return 'any'
  return [...new Set((ports as readonly number[]).filter(isPort))].toSorted((a, b) => a - b)
}

function upstreamPorts({ upstreams }: RenderedConfig): readonly (number | null)[] {
  return upstreams.flatMap(({ entry }) => entry['node-urls'].map(({ url }) => portOf(url)))
}

/** Whether the port of a URL of an upstream stands in a Secret. */
export function hidesPort({ entry }: UpstreamPlan): boolean {
  return entry['node-urls'].some(({ url }) => portOf(url) === null)
}

function storePorts({ spec }: RpcRouter): readonly (number | null)[] {
  const { store } = chooseState(spec)
  const address = spec.cache?.cacheService?.address
  return [
    ...(store.kind === 'managed' ? [redisPort] : []),
    ...(store.kind === 'external' ? store.connection.addresses : []).map(portOfAddress),
    ...(address === undefined ? [] : [portOfAddress(address)]),
  ]
}

function sourcePorts({ spec }: RpcRouter): readonly (number | null)[] {
  const urls = [...(spec.specSources ?? []).map(({ url }) => url), spec.tracing?.endpoint]
  return urls.filter((url) => url !== undefined).map(portOf)
}

/** The port of a URL as the config writes it; null when a variable stands where it would be. */
function portOf(url: string): number | null {
  const [, scheme = '', authority = ''] = /^([a-z]+):\/\/([^/?#]*)/i.exec(url) ?? []
  const written = /:(\d+)$/.exec(authority)?.[1]
  if (written !== undefined) return Number(written)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return /\$[{<]/.test(host) ? null : (usualPorts.get(scheme.toLowerCase()) ?? null)
}

function portOfAddress(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1))
}

/** True for what a TCP port can be. */
export function isPort(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 65_535
}
