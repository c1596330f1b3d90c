// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeClient } from '../kube/client.ts'
import { listAll } from '../kube/reflector.ts'
import type { KubeObject } from '../kube/object.ts'
import { type Deployment, deployments, type ReplicaSet, replicaSets } from '../resources/kinds.ts'
import { childrenOf, configHashAnnotation } from '../resources/labels.ts'
import { type PodPorts, portsIn } from '../resources/ports.ts'
import { nothingRuns, type Running } from '../translate/translation.ts'

/** What is kept of a ReplicaSet, or of a Deployment: what its pods, if it has any, need in order to run. */
export interface Revision extends KubeObject {
  readonly configHash: string | null
  readonly ports: PodPorts
  readonly pods: number
  /** Names of the Secrets that its containers take variables from. */
  readonly secrets: readonly string[]
}

export function revisionOf(object: KubeObject): Revision {
  const { apiVersion, kind, metadata, spec, status } = object as ReplicaSet
  const { name, namespace, uid, resourceVersion, labels, ownerReferences } = metadata
  const { annotations } = spec?.template?.metadata ?? {}
  const variables = spec?.template?.spec?.containers.flatMap(({ env }) => env ?? []) ?? []
  const secrets = variables.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, labels, ownerReferences },
    configHash: annotations?.[configHashAnnotation] ?? null,
    ports: portsIn(annotations),
    pods: Math.max(spec?.replicas ?? 0, status?.replicas ?? 0),
    secrets: [...new Set(secrets)],
  }
}

/** What the pods of a Deployment serve. */
export function runningOf(deployment: Deployment | null): Running {
  return deployment === null ? nothingRuns : { openPorts: revisionOf(deployment).ports.listen }
}

/**
 * What the ReplicaSets of a router refer to, as the API server has it now: old pods may start again, and a rollout may be
 * undone. With what the Deployment asks for, whose ReplicaSet may be yet to come.
 */
export async function liveRevisions(
  client: Pick<KubeClient, 'list'>,
  { metadata }: RpcRouter,
  signal: AbortSignal,
): Promise<readonly Revision[]> {
  const selection = { namespace: metadata.namespace, labelSelector: childrenOf(metadata.name) }
  // In this order: a ReplicaSet that is made in between is that of the Deployment.
  const asking = await listAll(client, deployments, selection, signal)
  const { items } = await listAll(client, replicaSets, selection, signal)
  return [...asking.items, ...items].map(revisionOf)
}
