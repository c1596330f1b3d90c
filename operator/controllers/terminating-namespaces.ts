// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ControllerOptions } from '../kube/controller.ts'
import { isNamespaceTerminating } from '../kube/errors.ts'
import { type KubeObject, refOf } from '../kube/object.ts'
import type { Store } from '../kube/store.ts'

type Reconcile = ControllerOptions['reconcile']

/**
 * Objects whose namespace is being deleted. That cannot be undone, so they are as good as deleted: nothing more is written
 * for them, which the API server would refuse, router by router.
 */
export class TerminatingNamespaces {
  readonly #stores: readonly Store<KubeObject, string>[]
  /** By uid: a namespace of the same name that comes later has others. */
  readonly #terminating = new Set<string>()

  constructor(...stores: readonly Store<KubeObject, string>[]) {
    this.#stores = stores
    for (const store of stores)
      store.subscribe(({ type, object }) => {
        if (type === 'deleted') this.#terminating.delete(object.metadata.uid ?? '')
      })
  }

  /** Skips those objects, and learns of terminating namespaces from what the API server refuses. */
  skipping(store: Store<KubeObject, string>, reconcile: Reconcile): Reconcile {
    return async (key, context) => {
      const uid = store.get(key)?.metadata.uid
      if (uid !== undefined && this.#terminating.has(uid)) return
      try {
        return await reconcile(key, context)
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error
        this.#note(refOf(key).namespace)
      }
    }
  }

  #note(namespace: string | undefined): void {
    for (const store of this.#stores)
      for (const { metadata } of store.list())
        if (metadata.namespace === namespace && metadata.uid !== undefined)
          this.#terminating.add(metadata.uid)
  }
}
