// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiVersion, rpcRouterNames } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject, ObjectMeta } from '../kube/object.ts'
import { apiVersionOf, type Resource } from '../kube/resource.ts'
import { redisObjectName, routerObjectName } from '../translate/object-names.ts'
import { childLabels, type Component } from './labels.ts'

/** What a child adds to the metadata that all have. */
export interface ChildOptions {
  /** By default the name that all objects of the component share. */
  readonly name?: string
  /** By default the router itself. */
  readonly component?: Component
  /** Image that the version label is taken from. */
  readonly image?: string
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

/** Type and metadata of an object that belongs to a router: the garbage collector deletes it with its owner. */
export function childOf<T extends KubeObject>(
  router: RpcRouter,
  resource: Resource<T>,
  { component = 'router', image, labels, annotations, ...options }: ChildOptions = {},
): { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta } {
  const { namespace, name, uid } = router.metadata
  const usualName = component === 'redis' ? redisObjectName(router) : routerObjectName(router)
  const owner = { apiVersion, kind: rpcRouterNames.kind, name, uid }
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name: options.name ?? usualName,
      namespace,
      labels: { ...labels, ...childLabels(router, component, image) },
      ...(annotations && { annotations }),
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
  }
}
