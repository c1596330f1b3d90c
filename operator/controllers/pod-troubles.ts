// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/status.ts'
import type { KubeClient } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import { type Deployment, type Pod, pods, type StatefulSet } from '../resources/kinds.ts'
import { childrenOf, componentOf } from '../resources/labels.ts'
import { isComplete, isStalled, podProblem } from '../status/rollout.ts'
import type { RouterObservation } from '../status/router-status.ts'
import type { Component, RedisComponent } from '../translate/object-names.ts'

interface WithPods {
  readonly deployment: Deployment | null
  readonly redis: readonly StatefulSet[]
}

/** Finds out which pods of a router and its managed Redis are missing, and why; null if none. */
export async function troublesOf(
  client: Pick<KubeClient, 'list'>,
  { metadata: { namespace, name } }: RpcRouter,
  { deployment, redis }: WithPods,
  signal: AbortSignal,
): Promise<Pick<RouterObservation, 'podProblem' | 'lost'> | null> {
  const lost = redis.filter(({ status }) => !status?.availableReplicas)
  if (lost.length === 0 && (deployment === null || isComplete(deployment))) return null
  let found: readonly Pod[] = []
  try {
    found = (await client.list(pods, { namespace, labelSelector: childrenOf(name) }, signal)).items
  } catch (error) {
    // If the operator may not list pods, the status lacks this part.
    if (!(error instanceof ApiError)) throw error
  }
  const problem = (of: Component, isLate: boolean) => {
    const own = found.filter((pod) => componentOf(pod) === of)
    return podProblem(own, isLate)
  }
  const lostOf = (each: StatefulSet) => {
    const component = componentOf(each) as RedisComponent
    return { component, problem: problem(component, true) }
  }
  return { podProblem: problem('router', isStalled(deployment)), lost: lost.map(lostOf) }
}

/** Minimum interval between checks of unhealthy pods. */
export const requeueAfterMs = 5_000
const maxRequeueMs = 60_000

/** Interval between checks of unhealthy pods. It grows with the time since the status changed. */
export function podRequeueMs({ conditions = [] }: RpcRouterStatus, nowMs: number): number {
  const changes = conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime))
  return Math.min(Math.max(nowMs - Math.max(...changes), requeueAfterMs), maxRequeueMs)
}
