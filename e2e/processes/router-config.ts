// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../proxy/config/types.ts'

/** A URL of an upstream, with settings as in the config file. */
export type NodeUrl = Readonly<Record<string, unknown>> & { readonly url: string }

/** One listener and the nodes behind it. */
export interface Leg {
  readonly chainId: string
  readonly apiInterface: ApiInterface
  /** Port on loopback. Default: any free port. */
  readonly port?: number
  readonly nodes: readonly LegNode[]
  /** Backup upstreams. */
  readonly backups?: readonly LegNode[]
}

interface LegNode {
  readonly name: string
  readonly urls: readonly NodeUrl[]
}

/**
 * An `epoch-duration` of about a day, chosen so that the current epoch has just begun. Epochs are
 * multiples of it since 1970. A new epoch during a test would make dead nodes eligible.
 */
export function longEpoch(): string {
  const nowMs = Date.now()
  return `${Math.floor(nowMs / Math.ceil(nowMs / 86_400_000))}ms`
}

/** A config file for these legs. */
export function routerConfig(legs: readonly Leg[]) {
  const chainOf = ({ chainId, apiInterface }: Leg) => ({
    'chain-id': chainId,
    'api-interface': apiInterface,
  })
  const upstreamsOf = (leg: Leg, nodes: readonly LegNode[] = []) =>
    nodes.map(({ name, urls }) => ({ name, ...chainOf(leg), 'node-urls': urls }))
  const backups = legs.flatMap((leg) => upstreamsOf(leg, leg.backups))
  return {
    endpoints: legs.map((leg) => ({
      'network-address': `127.0.0.1:${leg.port ?? 0}`,
      ...chainOf(leg),
    })),
    'direct-rpc': legs.flatMap((leg) => upstreamsOf(leg, leg.nodes)),
    ...(backups.length > 0 ? { 'backup-direct-rpc': backups } : {}),
  }
}
