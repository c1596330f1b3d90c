// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/* Types that all Kubernetes objects share. Times are strings, as in the API's JSON. */

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean | undefined
  readonly blockOwnerDeletion?: boolean | undefined
}

/** Fields that a manager owns. */
export interface ManagedFields {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly generation?: number | undefined
  readonly creationTimestamp?: string | undefined
  readonly deletionTimestamp?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
  readonly ownerReferences?: readonly OwnerReference[] | undefined
  readonly finalizers?: readonly string[] | undefined
  readonly managedFields?: readonly ManagedFields[] | undefined
}

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** One page of a list, or a whole list. */
export interface ObjectList<T extends KubeObject> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  /** Token of the next page; absent on the last one. */
  readonly continue?: string
}

/** Identifies an object of a kind. Cluster-scoped kinds have no namespace. */
export interface ObjectRef {
  readonly namespace?: string | undefined
  readonly name: string
}

/** `namespace/name`, or `name` for a cluster-scoped kind. */
export function objectKey({ namespace, name }: ObjectRef): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The inverse of `objectKey`. */
export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/')
  if (slash === -1) return { name: key }
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** Drops `managedFields`, which is often half of an object. For a reflector's `keep`. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Whether `a` is older than `b`. Versions compare as integers; anything else is never older. */
export function isOlder(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const digits = /^\d+$/
  return digits.test(a) && digits.test(b) && BigInt(a) < BigInt(b)
}

declare const objectType: unique symbol

/** A kind in the API, with the parts of its URL. `T` is the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Name in the path: `deployments`. */
  readonly plural: string
  readonly namespaced: boolean
  /** Carries the type `T`; no value has this property. */
  readonly [objectType]?: T
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}

/** Path of all objects of the kind, in one namespace or in all. */
export function collectionPathOf(resource: Resource, namespace?: string): string {
  const scope =
    namespace === undefined || !resource.namespaced
      ? ''
      : `/namespaces/${encodeURIComponent(namespace)}`
  const { group, version, plural } = resource
  return `${group === '' ? '/api' : `/apis/${group}`}/${version}${scope}/${plural}`
}

/**
 * Path of one object, or of its subresource.
 * @throws TypeError if a namespaced kind has no namespace: the path would name another object
 */
export function objectPathOf(resource: Resource, ref: ObjectRef, subresource?: string): string {
  if (resource.namespaced && !ref.namespace)
    throw new TypeError(`${resource.kind} ${ref.name} has no namespace, its kind needs one`)
  if (ref.name === '') throw new TypeError(`a ${resource.kind} has an empty name`)
  const path = `${collectionPathOf(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}
