// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'

/** A Redis that the operator runs: for sessions, and for answers. */
export const redisComponents = ['redis', 'redis-cache'] as const
export type RedisComponent = (typeof redisComponents)[number]
/** The part that a child plays. */
export type Component = 'router' | RedisComponent

/** What every object of a component is called, or begins with. */
export function objectName(
  { metadata }: { readonly metadata: Pick<RpcRouter['metadata'], 'name'> },
  component: Component = 'router',
): string {
  return `${metadata.name}-${component}`
}

/** The key of the Secret of a managed Redis that holds the password. */
export const redisPasswordKey = 'password'

export const redisPort = 6379

/** Where the pods find the ConfigMap with the config. */
export const configDirectory = '/etc/rpc-router/config'

/** Where the pods find files from Secrets. */
export const secretDirectory = '/etc/rpc-router/secrets'

/** Below it: a file for each variable of an upstream. */
export const keyDirectory = 'keys'

/** The key of our ConfigMap with the router's config. */
export const configFile = 'router.yml'

/** The port of metrics and probes. */
export const metricsPort = 7779

/** The pods that the spec asks for: a count, or the least that autoscaling may go to; two where it says nothing. */
export function wantedReplicas({ replicas, autoscaling }: RpcRouterSpec): number {
  return replicas ?? autoscaling?.minReplicas ?? 2
}

/** The most pods that there can be. */
export function mostReplicas(spec: RpcRouterSpec): number {
  return spec.autoscaling?.maxReplicas ?? wantedReplicas(spec)
}

/**
 * A short hash of a list of texts. Each is preceded by its length, so that no two lists make the same input:
 * `['ab', 'c']` and `['a', 'bc']` differ.
 *
 * @returns 16 lower-case hexadecimal digits: 64 bits, short enough for the end of an object's name
 */
export function digest(parts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return hash.digest('hex').slice(0, 16)
}

/** The hash of a map, whatever the order of its keys. */
export function digestEntries(entries: Iterable<readonly [key: string, value: string]>): string {
  return digest([...entries].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).flat())
}
