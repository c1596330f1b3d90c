// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group, apiVersion, rpcRouterNames } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import {
  objectKey,
  type KubeObject,
  type ObjectMeta,
  apiVersionOf,
  type Resource,
} from '../kube/object.ts'
import { type Component, objectName } from '../translate/object-names.ts'

const managedBy = 'rpc-router-operator'
const managedByLabel = 'app.kubernetes.io/managed-by'
const instanceLabel = 'app.kubernetes.io/instance'
const componentLabel = 'app.kubernetes.io/component'

/** Label that selects children in watches. */
const childLabel: Readonly<Record<string, string>> = { [managedByLabel]: managedBy }
/** On applied objects: hash of the intent, so that the operator need not apply it again. */
export const appliedAnnotation = `${group}/applied-hash`
/** On pods: hash of the part of their config that they cannot reload. */
export const fixedHashAnnotation = `${group}/fixed-hash`
/** On the Deployment: hash of the whole config that its pods have, or will have soon. */
export const contentHashAnnotation = `${group}/content-hash`
/** On the Deployment: hash of the config in `lastGoodName`, to detect forged ConfigMaps. */
export const goodHashAnnotation = `${group}/last-good-hash`
/** On the Deployment: the config that pods refuse, so that the operator does not retry it. */
export const refusedAnnotation = `${group}/refused-config`
/** Hash of Secret values: on pods, those read at startup; on the Deployment, those reloaded. */
export const secretHashAnnotation = `${group}/secret-hash`

/** Returns the pod selector of a component. It can never change, so it has only fixed labels. */
export function selectorLabels(
  { metadata }: RpcRouter,
  component: Component,
): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'rpc-router',
    [instanceLabel]: metadata.name,
    [componentLabel]: component,
  }
}

/** Returns the recommended labels of a child; the image, if given, determines the version. */
export function childLabels(
  router: RpcRouter,
  component: Component,
  image?: string,
): Readonly<Record<string, string>> {
  const version = image === undefined ? null : versionOf(image)
  return {
    ...selectorLabels(router, component),
    ...(version !== null && { 'app.kubernetes.io/version': version }),
    'app.kubernetes.io/part-of': 'rpc-router',
    ...childLabel,
  }
}

/** Whether an object has the operator's label. */
export function isChild({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.labels?.[managedByLabel] === managedBy
}

/** Label selector of all children. */
export const childSelector = `${managedByLabel}=${managedBy}`
/** Label selector of the pods of all routers. */
export const routerPodSelector = `${childSelector},${componentLabel}=router`

/** Returns the label selector of a router's children, including ReplicaSets. */
export function childrenOf(router: string): string {
  return `${childSelector},${instanceLabel}=${router}`
}

/** Returns the key of the router in an object's labels, if any. */
export function instanceKeys({ metadata }: Pick<KubeObject, 'metadata'>): readonly string[] {
  const name = metadata.labels?.[instanceLabel]
  return name === undefined ? [] : [objectKey({ namespace: metadata.namespace, name })]
}

/** Returns the component in an object's labels; null if absent. */
export function componentOf({ metadata }: Pick<KubeObject, 'metadata'>): string | null {
  return metadata.labels?.[componentLabel] ?? null
}

/** Returns the tag of an image if it is a valid label; otherwise null. */
function versionOf(image: string): string | null {
  const tag = /:(?<tag>[A-Za-z0-9_][\w.-]{0,61}[A-Za-z0-9]|[A-Za-z0-9])$/.exec(
    image.replace(/@.*$/, ''),
  )
  return tag?.groups?.['tag'] ?? null
}

/** Metadata of a child that differs from the default. */
export interface ChildOptions {
  /** Default: the name that all objects of the component share. */
  readonly name?: string
  /** Default: `router`. */
  readonly component?: Component
  /** Image for the version label. */
  readonly image?: string
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

/** Returns type and metadata of a router's object, with its owner reference. */
export function childOf<T extends KubeObject>(
  router: RpcRouter,
  resource: Resource<T>,
  { component = 'router', image, labels, annotations, ...options }: ChildOptions = {},
): { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta } {
  const { namespace, name, uid } = router.metadata
  const owner = { apiVersion, kind: rpcRouterNames.kind, name, uid }
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name: options.name ?? objectName(router, component),
      namespace,
      labels: { ...labels, ...childLabels(router, component, image) },
      ...(annotations && { annotations }),
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
  }
}
