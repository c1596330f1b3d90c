// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { Resource } from '../kube/resource.ts'
import { configMaps, secrets } from '../resources/kinds.ts'
import { isChild } from '../resources/labels.ts'
import type { ReferenceNames } from '../translate/references-of.ts'
import { type ChildStores, routersOf } from './child-stores.ts'

/** A Secret or ConfigMap that is known to exist, and no more. */
type Outline = KubeObject & { readonly isOutline?: boolean }

/**
 * What is kept of a Secret or a ConfigMap that the watch tells of. A cluster can have many, and large ones: those that
 * nobody refers to are kept in outline. Annotations go too, since kubectl copies whole objects into them.
 */
export function keepReference(object: KubeObject, isReferredTo: boolean): KubeObject {
  if (isChild(object) || routersOf(object).length > 0) return object
  const { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences } =
    object.metadata
  const metadata = { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences }
  if (isReferredTo) return { ...object, metadata }
  const { apiVersion, kind } = object
  const outline: Outline = { apiVersion, kind, metadata, isOutline: true }
  return outline
}

export function isOutline(object: KubeObject): boolean {
  return (object as Outline).isOutline ?? false
}

/** Gets what was kept in outline and is referred to now. */
export class ReferenceLoader {
  readonly #client: Pick<KubeClient, 'get'>
  readonly #children: ChildStores

  constructor(client: Pick<KubeClient, 'get'>, children: ChildStores) {
    this.#client = client
    this.#children = children
  }

  /**
   * Reads what depends on the data of some names, as soon as all of it that exists is there.
   *
   * @param read looks all of it up before it awaits anything
   */
  async read<T>(
    namespace: string,
    namesOf: () => ReferenceNames,
    read: () => T | Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    for (;;) {
      // Looked at again each time, and read at once: an event may have come while something was awaited.
      const missing = this.#missing(namespace, namesOf())
      if (missing.length === 0) return read()
      await Promise.all(
        missing.map(([resource, name]) => this.#get(resource, { namespace, name }, signal)),
      )
    }
  }

  #missing(namespace: string, names: ReferenceNames): readonly (readonly [Resource, string])[] {
    const wanted: readonly (readonly [Resource, string])[] = [
      ...names.secrets.map((name) => [secrets, name] as const),
      ...names.configMaps.map((name) => [configMaps, name] as const),
    ]
    return wanted.filter(([resource, name]) => {
      const known = this.#children.store(resource).get(keyOf({ namespace, name }))
      return known !== undefined && isOutline(known)
    })
  }

  async #get(
    resource: Resource,
    ref: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<void> {
    const store = this.#children.store(resource)
    const known = store.get(keyOf(ref))
    try {
      store.complete(keepReference(await this.#client.get(resource, ref, signal), true))
    } catch (error) {
      if (!isNotFound(error)) throw error
      // The watch is about to say so.
      if (known !== undefined) store.delete(known)
    }
  }
}
