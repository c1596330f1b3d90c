// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../../api/rpc-router.ts'
import { redisObjectName, redisPort } from '../../translate/object-names.ts'
import { childOf } from '../child.ts'
import {
  type NetworkPolicy,
  networkPolicies,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  type Service,
  services,
} from '../kinds.ts'
import { selectorLabels } from '../labels.ts'

/** The name under which the pods find Redis. */
export function buildRedisService(router: RpcRouter): Service {
  const port = { name: 'redis', port: redisPort, targetPort: 'redis', protocol: 'TCP' }
  return {
    ...childOf(router, services, { name: redisObjectName(router), component: 'redis' }),
    spec: {
      type: 'ClusterIP',
      clusterIP: 'None',
      selector: { ...selectorLabels(router, 'redis') },
      ports: [port],
    },
  }
}

/** A single instance may always be moved; the budget says so, instead of leaving it open. */
export function buildRedisDisruptionBudget(router: RpcRouter): PodDisruptionBudget {
  const name = redisObjectName(router)
  return {
    ...childOf(router, podDisruptionBudgets, { name, component: 'redis' }),
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { ...selectorLabels(router, 'redis') } },
    },
  }
}

/** Redis is for the pods of its router alone, and calls nobody. */
export function buildRedisNetworkPolicy(router: RpcRouter): NetworkPolicy {
  const clients = { podSelector: { matchLabels: { ...selectorLabels(router, 'router') } } }
  return {
    ...childOf(router, networkPolicies, { name: redisObjectName(router), component: 'redis' }),
    spec: {
      podSelector: { matchLabels: { ...selectorLabels(router, 'redis') } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [clients], ports: [{ protocol: 'TCP', port: redisPort }] }],
      egress: [],
    },
  }
}
