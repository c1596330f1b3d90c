// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject, ObjectRef } from './object.ts'

declare const objectType: unique symbol

/** A kind of the API, and how it is addressed. `T` is the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** As in the path: `deployments`. */
  readonly plural: string
  readonly namespaced: boolean
  /** Holds the type alone; no value has it. */
  readonly [objectType]?: T
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}

/** `/apis/apps/v1`, or `/api/v1` for the core group. */
export function groupPathOf({ group, version }: Resource): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** The path of all objects of the kind, in one namespace or in all. */
export function collectionPathOf(resource: Resource, namespace?: string): string {
  const scope =
    namespace === undefined || !resource.namespaced
      ? ''
      : `/namespaces/${encodeURIComponent(namespace)}`
  return `${groupPathOf(resource)}${scope}/${resource.plural}`
}

/**
 * The path of one object, or of its subresource.
 * @throws TypeError when a kind with namespaces is asked for without one: that would be another object
 */
export function objectPathOf(resource: Resource, ref: ObjectRef, subresource?: string): string {
  if (resource.namespaced && !ref.namespace)
    throw new TypeError(`${resource.kind} ${ref.name} has no namespace, its kind needs one`)
  if (ref.name === '') throw new TypeError(`a ${resource.kind} has an empty name`)
  const path = `${collectionPathOf(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}
