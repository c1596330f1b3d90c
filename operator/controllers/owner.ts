// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group, rpcRouterNames } from '../api/group.ts'
import type { KubeObject, OwnerReference } from '../kube/object.ts'

/**
 * The RpcRouter that an object says it is controlled by; Kubernetes lets an object have one controller. Kinds of other
 * groups may have the same name, and are other kinds.
 */
export function owningRouter({
  metadata,
}: Pick<KubeObject, 'metadata'>): OwnerReference | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true)
  return controller !== undefined && isRouter(controller) ? controller : undefined
}

/** Versions of our group are the same kind. */
function isRouter({ apiVersion, kind }: OwnerReference): boolean {
  return apiVersion.startsWith(`${group}/`) && kind === rpcRouterNames.kind
}
