// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject } from '../kube/object.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import type { StateStore } from '../translate/state-store.ts'
import { buildAutoscaler } from './autoscaler.ts'
import type { BuildContext } from './build-context.ts'
import { buildConfigMap } from './config-map.ts'
import { buildDeployment } from './deployment.ts'
import { buildDisruptionBudget } from './disruption-budget.ts'
import type { PodPorts } from './pod-ports.ts'
import { buildPodMonitor, buildServiceMonitor } from './monitor.ts'
import { buildNetworkPolicy } from './network-policy.ts'
import {
  buildRedisDisruptionBudget,
  buildRedisNetworkPolicy,
  buildRedisService,
} from './redis/redis-network.ts'
import { buildRedisSecret } from './redis/redis-secret.ts'
import { buildRedisStatefulSet } from './redis/redis-stateful-set.ts'
import { buildMetricsService, buildService } from './service.ts'
import { buildServiceAccount } from './service-account.ts'

/** The Redis of a router, if the operator runs it. It comes first, since the config refers to its password. */
export function buildRedis(
  router: RpcRouter,
  store: StateStore,
  password: string,
  { images }: BuildContext,
): readonly KubeObject[] {
  if (store.kind !== 'managed') return []
  return [
    buildRedisSecret(router, password),
    buildRedisService(router),
    buildRedisNetworkPolicy(router),
    buildRedisStatefulSet(router, store.settings, images.redis),
    buildRedisDisruptionBudget(router),
  ]
}

/**
 * Every object of a router but its Redis, in the order in which they are applied.
 *
 * @param others ports of the other configs of the router that are kept
 */
export function buildFleet(
  router: RpcRouter,
  config: RenderedConfig,
  context: BuildContext,
  others: readonly PodPorts[] = [],
): readonly KubeObject[] {
  const { type } = router.spec.monitoring
  const { chainIdOf, monitors } = context
  const objects = [
    buildConfigMap(router, config),
    buildServiceAccount(router),
    buildNetworkPolicy(router, config, others),
    buildAutoscaler(router),
    buildDeployment(router, config, context),
    // Clients go by it: it changes only with pods that it fits.
    buildService(router, chainIdOf),
    type === 'ServiceMonitor' ? buildMetricsService(router) : null,
    buildDisruptionBudget(router),
    type === 'PodMonitor' && monitors.has(type) ? buildPodMonitor(router) : null,
    type === 'ServiceMonitor' && monitors.has(type) ? buildServiceMonitor(router) : null,
  ]
  return objects.filter((object) => object !== null)
}
