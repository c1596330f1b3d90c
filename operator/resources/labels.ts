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

/** The label by which children are watched. */
const childLabel: Readonly<Record<string, string>> = { [managedByLabel]: managedBy }
/** On what the operator applied: a hash of what it asked for, so that it need not ask again. */
export const appliedAnnotation = `${group}/applied-hash`
/** On pods: of the part of their config that they were made with. */
export const fixedHashAnnotation = `${group}/fixed-hash`
/** On the Deployment: of the whole config that its pods have, or will have in a moment. */
export const contentHashAnnotation = `${group}/content-hash`
/** On the Deployment: hash of the config in `lastGoodName`. Without it, the operator does not trust that ConfigMap. */
export const goodHashAnnotation = `${group}/last-good-hash`
/** On the Deployment: identifies the config that pods refuse, so the operator does not retry it. */
export const refusedAnnotation = `${group}/refused-config`
/** Of keys of Secrets; on pods those that they were started with, on the Deployment those that they take over. */
export const secretHashAnnotation = `${group}/secret-hash`

/** What selects the pods of a component: of fixed labels alone, since a selector can never change. */
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

/** The recommended labels of a child; the version, where there is an image to take it from. */
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

/** Whether an object is labelled as one of ours. */
export function isChild({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.labels?.[managedByLabel] === managedBy
}

/** What a list of all children selects by. */
export const childSelector = `${managedByLabel}=${managedBy}`
/** What a list of the pods of all routers selects by. */
export const routerPodSelector = `${childSelector},${componentLabel}=router`

/** What a list of the children of one router selects by, ReplicaSets included. */
export function childrenOf(router: string): string {
  return `${childSelector},${instanceLabel}=${router}`
}

/** The key of the router that an object says it is for; none when it does not say. */
export function instanceKeys({ metadata }: Pick<KubeObject, 'metadata'>): readonly string[] {
  const name = metadata.labels?.[instanceLabel]
  return name === undefined ? [] : [objectKey({ namespace: metadata.namespace, name })]
}

/** Which part an object plays; null when it does not say. */
export function componentOf({ metadata }: Pick<KubeObject, 'metadata'>): string | null {
  return metadata.labels?.[componentLabel] ?? null
}

/** The tag of an image, where it can be a label; null for a digest or none. */
function versionOf(image: string): string | null {
  const tag = /:(?<tag>[A-Za-z0-9_][\w.-]{0,61}[A-Za-z0-9]|[A-Za-z0-9])$/.exec(
    image.replace(/@.*$/, ''),
  )
  return tag?.groups?.['tag'] ?? null
}

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
