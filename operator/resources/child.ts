// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiVersion, rpcRouterNames } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../kube/object.ts'
import { apiVersionOf, type Resource } from '../kube/resource.ts'
import { childLabels, type Component } from './labels.ts'

/** What a child adds to the metadata that all have. */
export interface ChildOptions {
  readonly name: string
  readonly component: Component
  /** Image that the version label is taken from. */
  readonly image?: string
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

/** Type and metadata of an object that belongs to a router: the garbage collector deletes it with its owner. */
export function childOf<T extends KubeObject>(
  router: RpcRouter,
  resource: Resource<T>,
  { name, component, image, labels, annotations }: ChildOptions,
): { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta } {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      namespace: router.metadata.namespace,
      labels: { ...labels, ...childLabels(router, component, image) },
      ...(annotations && { annotations }),
      ownerReferences: [ownerReference(router)],
    },
  }
}

function ownerReference({ metadata }: RpcRouter): OwnerReference {
  return {
    apiVersion,
    kind: rpcRouterNames.kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  }
}
