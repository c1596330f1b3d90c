// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter, RpcRouterSpec } from '../api/rpc-router.ts'

/** What every object of a router is called, or begins with. */
export function routerObjectName({
  metadata,
}: {
  readonly metadata: Pick<RpcRouter['metadata'], 'name'>
}): string {
  return `${metadata.name}-router`
}

/** What every object of a managed Redis is called, its password Secret among them. */
export function redisObjectName({ metadata }: RpcRouter): string {
  return `${metadata.name}-redis`
}

/** The key of the Secret of a managed Redis that holds the password. */
export const redisPasswordKey = 'password'

export const redisPort = 6379

/** Where the pods find the ConfigMap with the config. */
export const configDirectory = '/etc/rpc-router/config'

/** Where the pods find files from Secrets. */
export const secretDirectory = '/etc/rpc-router/secrets'

/** Where the image has the bundled chain specs. */
export const bundledSpecs = '/usr/share/rpc-router/specs'

/** The key of our ConfigMap with the router's config. */
export const configFile = 'router.yml'

/** The port of metrics and probes. */
export const metricsPort = 7779

/** How many pods there are when neither a count nor autoscaling is set. */
const usualReplicas = 2

/** The pods that the spec asks for: a count, or the least that autoscaling may go to. */
export function wantedReplicas({ replicas, autoscaling }: RpcRouterSpec): number {
  return replicas ?? autoscaling?.minReplicas ?? usualReplicas
}

/** The most pods that there can be. */
export function mostReplicas(spec: RpcRouterSpec): number {
  return spec.autoscaling?.maxReplicas ?? wantedReplicas(spec)
}
