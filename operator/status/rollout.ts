// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterSpec } from '../api/rpc-router.ts'
import type { RpcRouterStatus } from '../api/rpc-router-status.ts'
import type { Deployment } from '../resources/kinds.ts'
import { configHashAnnotation } from '../resources/labels.ts'
import { type Finding, routerFinding } from './condition-set.ts'

/** Pods of a Deployment, as it counts them. */
export interface ReplicaCounts {
  readonly wanted: number
  readonly replicas: number
  readonly updated: number
  readonly ready: number
  readonly available: number
}

export function countReplicas({ spec, status }: Deployment): ReplicaCounts {
  return {
    wanted: spec.replicas ?? 1,
    replicas: status?.replicas ?? 0,
    updated: status?.updatedReplicas ?? 0,
    ready: status?.readyReplicas ?? 0,
    available: status?.availableReplicas ?? 0,
  }
}

/** What the status says of the pods of a router, whatever becomes of its spec. */
export function fleetFigures(deployment: Deployment | null) {
  const counts = deployment === null ? null : countReplicas(deployment)
  return {
    configHash: deployment?.metadata.annotations?.[configHashAnnotation],
    image: deployment?.spec.template.spec?.containers[0]?.image,
    replicas: counts?.replicas ?? 0,
    updatedReplicas: counts?.updated ?? 0,
    readyReplicas: counts?.ready ?? 0,
    availableReplicas: counts?.available ?? 0,
  } satisfies RpcRouterStatus
}

/** `2/3`. */
export function readyOfWanted(deployment: Deployment | null): string {
  if (deployment === null) return '0/0'
  const { ready, wanted } = countReplicas(deployment)
  return `${ready}/${wanted}`
}

/** Whether enough pods are ready: as many as are left when nodes are drained. */
export function availability(spec: RpcRouterSpec, deployment: Deployment | null): Finding {
  if (deployment === null)
    return routerFinding('Available', 'NotProgrammed', 'No config has been good yet.')
  const { wanted, available } = countReplicas(deployment)
  if (wanted === 0) return routerFinding('Available', 'ScaledToZero', 'No pod is wanted.')
  const least = Math.max(1, wanted - awayAtMost(spec.pod.maxUnavailable, wanted))
  const counts = `${available} of ${wanted} pods are available`
  if (available >= least)
    return routerFinding('Available', 'MinimumReplicasAvailable', `${counts}.`)
  const message = `${counts}, ${least} are the least.`
  return routerFinding('Available', 'MinimumReplicasUnavailable', message)
}

function awayAtMost(count: number | string, wanted: number): number {
  if (typeof count === 'number') return count
  const amount = Number.parseInt(count, 10)
  return count.endsWith('%') ? Math.floor((amount / 100) * wanted) : amount
}

/** Whether pods of the newest revision are on their way. */
export function progress(deployment: Deployment | null): Finding {
  if (deployment === null)
    return routerFinding('Progressing', 'NotProgrammed', 'Nothing was applied yet.')
  const { status, metadata } = deployment
  const { wanted, replicas, updated, available } = countReplicas(deployment)
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  const condition = status?.conditions?.find(({ type }) => type === 'Progressing')
  if (isSeen && condition?.reason === 'ProgressDeadlineExceeded') {
    const message = `${updated} of ${wanted} pods are of the newest revision; there was no progress for ${deployment.spec.progressDeadlineSeconds} s. The old pods keep serving.`
    return routerFinding('Progressing', 'RolloutStalled', message)
  }
  if (isSeen && updated >= wanted && replicas <= updated && available >= wanted)
    return routerFinding(
      'Progressing',
      'RolloutComplete',
      `All ${wanted} pods are of the newest revision.`,
    )
  const message = `${updated} of ${wanted} pods are of the newest revision, ${available} are available.`
  return routerFinding('Progressing', 'RolloutInProgress', message)
}
