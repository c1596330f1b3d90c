// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterSpec } from '../api/rpc-router.ts'

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
