// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { mostReplicas, routerObjectName } from '../translate/object-names.ts'
import { childOf } from './child.ts'
import { type PodDisruptionBudget, podDisruptionBudgets } from './kinds.ts'
import { selectorLabels } from './labels.ts'

/** How many pods a drain of nodes may take away at once. None for one replica: it could never be moved. */
export function buildDisruptionBudget(router: RpcRouter): PodDisruptionBudget | null {
  if (mostReplicas(router.spec) < 2) return null
  const name = routerObjectName(router)
  return {
    ...childOf(router, podDisruptionBudgets, { name, component: 'router' }),
    spec: {
      maxUnavailable: router.spec.pod.maxUnavailable,
      // A pod that does not work is no reason to keep a node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { ...selectorLabels(router, 'router') } },
    },
  }
}
