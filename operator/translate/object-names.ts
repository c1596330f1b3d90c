// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'

/** Managed Redis: one for sessions, one for answers. */
export const redisComponents = ['redis', 'redis-cache'] as const
export type RedisComponent = (typeof redisComponents)[number]
/** The component to which a child belongs. */
export type Component = 'router' | RedisComponent

/** Returns the name of every object of a component, or its prefix. */
export function objectName(
  { metadata }: { readonly metadata: Pick<RpcRouter['metadata'], 'name'> },
  component: Component = 'router',
): string {
  return `${metadata.name}-${component}`
}

/** Key of the password in the Secret of a managed Redis. */
export const redisPasswordKey = 'password'

export const redisPort = 6379

/** Mount path of the config. */
export const configDirectory = '/etc/rpc-router/config'

/** Mount path of files from Secrets. */
export const secretDirectory = '/etc/rpc-router/secrets'

/** Subdirectory with one file per variable of an upstream. */
export const keyDirectory = 'keys'

/** Key of the router's config in the ConfigMap. */
export const configFile = 'router.yml'

/** Port of metrics and probes. */
export const metricsPort = 7779

/** Returns the initial replica count: from the spec, otherwise the autoscaling minimum, or 2. */
export function wantedReplicas({ replicas, autoscaling }: RpcRouterSpec): number {
  return replicas ?? autoscaling?.minReplicas ?? 2
}

/** Returns the maximum replica count. */
export function mostReplicas(spec: RpcRouterSpec): number {
  return spec.autoscaling?.maxReplicas ?? wantedReplicas(spec)
}

/**
 * Returns a short hash of a list of strings. Each is preceded by its length, so that `['ab', 'c']`
 * and `['a', 'bc']` differ.
 * @returns 16 lower-case hexadecimal digits (64 bits), short enough for an object's name
 */
export function digest(parts: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`)
  return hash.digest('hex').slice(0, 16)
}

/** Returns the hash of a map, independent of the order of its keys. */
export function digestEntries(entries: Iterable<readonly [key: string, value: string]>): string {
  return digest([...entries].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))).flat())
}
