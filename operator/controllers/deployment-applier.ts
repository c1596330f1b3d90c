// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeClient } from '../kube/client.ts'
import type { ManagedFields } from '../kube/object.ts'
import { type Deployment, deployments } from '../resources/kinds.ts'
import { wantedReplicas } from '../translate/object-names.ts'
import { type ChildApplier, findObject } from './child-applier.ts'
import { fieldManager, handoverManager } from './field-conflicts.ts'

/**
 * Applies the Deployment of a router. With autoscaling the count is the autoscaler's, but a field that its owner just
 * drops falls back to 1: so the count is first handed to a manager that holds it, and only then given up.
 */
export async function applyDeployment(
  client: Pick<KubeClient, 'get' | 'apply'>,
  children: ChildApplier,
  router: RpcRouter,
  wanted: Deployment,
  signal: AbortSignal,
): Promise<void> {
  const leavesCount = wanted.spec.replicas === undefined
  if (leavesCount && !children.isApplied(router, deployments, wanted))
    await giveUpReplicas(client, children, router, wanted, signal)
  await children.apply(router, deployments, wanted, signal)
}

async function giveUpReplicas(
  client: Pick<KubeClient, 'get' | 'apply'>,
  children: ChildApplier,
  router: RpcRouter,
  wanted: Deployment,
  signal: AbortSignal,
): Promise<void> {
  const present = await findObject(client, deployments, wanted.metadata, signal)
  if (present === null) {
    const spec = { ...wanted.spec, replicas: wantedReplicas(router.spec) }
    await children.apply(router, deployments, { ...wanted, spec }, signal)
  }
  const live = present ?? (await findObject(client, deployments, wanted.metadata, signal))
  if (live === null || !ownsReplicas(live.metadata.managedFields)) return
  const { apiVersion, kind, metadata, spec } = live
  const { name, namespace, resourceVersion } = metadata
  const count = {
    apiVersion,
    kind,
    // The count must not have changed since it was read.
    metadata: { name, namespace, resourceVersion },
    // An autoscaler does nothing where the count is zero.
    spec: { replicas: spec.replicas === 0 ? wantedReplicas(router.spec) : spec.replicas },
  }
  const options = { fieldManager: handoverManager, force: true }
  await client.apply(deployments, count as unknown as Deployment, options, signal)
}

/** Whether the count is among the fields that we applied. */
function ownsReplicas(managedFields: readonly ManagedFields[] = []): boolean {
  return managedFields.some(({ manager, operation, fieldsV1 }) => {
    const spec = fieldsV1?.['f:spec'] as Readonly<Record<string, unknown>> | undefined
    return manager === fieldManager && operation === 'Apply' && spec?.['f:replicas'] !== undefined
  })
}
