// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { Applier } from '../kube/applier.ts'
import { isNotFound } from '../kube/errors.ts'
import { isOlder, keyOf, type KubeObject } from '../kube/object.ts'
import type { Resource } from '../kube/resource.ts'
import type { Store } from '../kube/store.ts'

type WithStatus<S> = KubeObject & { readonly status?: S | undefined }

/** Writes statuses, and none that is there already. */
export class StatusWriter<S extends object> {
  readonly #applier: Pick<Applier, 'applyStatus'>
  readonly #resource: Resource
  readonly #store: Pick<Store<KubeObject>, 'get'>
  /** By uid: what we wrote last, which the watch may not have brought yet. */
  readonly #written = new Map<string, Pick<WithStatus<S>, 'metadata' | 'status'>>()

  /** @param store what is known of the objects whose statuses are written */
  constructor(
    applier: Pick<Applier, 'applyStatus'>,
    resource: Resource,
    store: Pick<Store<KubeObject>, 'get'>,
  ) {
    this.#applier = applier
    this.#resource = resource
    this.#store = store
  }

  /** The object with the newest status that is known. */
  latest<T extends WithStatus<S>>(object: T): T {
    const written = this.#written.get(object.metadata.uid ?? '')
    if (written === undefined) return object
    const isBehind = isOlder(object.metadata.resourceVersion, written.metadata.resourceVersion)
    return isBehind ? { ...object, status: written.status } : object
  }

  /** @returns whether it was written: not when it is there already, nor when the object is gone */
  async write(object: WithStatus<S>, status: S, signal: AbortSignal): Promise<boolean> {
    const { apiVersion, kind, metadata } = object
    const { name, namespace, uid } = metadata
    // Without the keys that are undefined, as the API server would have it.
    const wanted = JSON.parse(JSON.stringify(status)) as S
    if (isDeepStrictEqual(this.latest(object).status, wanted)) return false
    const intent = { apiVersion, kind, metadata: { name, namespace, uid }, status: wanted }
    const written: WithStatus<S> | null = await this.#apply(intent, signal)
    if (written === null) return false
    // One that went in the meantime was forgotten already, and would not be again.
    if (this.#store.get(keyOf(metadata))?.metadata.uid === uid)
      this.#written.set(uid ?? '', {
        metadata: written.metadata,
        status: written.status ?? wanted,
      })
    return true
  }

  async #apply(intent: WithStatus<S>, signal: AbortSignal): Promise<WithStatus<S> | null> {
    try {
      return await this.#applier.applyStatus(this.#resource, intent, signal)
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /** Whether an object has the status that we wrote last. */
  isOwnWrite(object: WithStatus<S>): boolean {
    const written = this.#written.get(object.metadata.uid ?? '')
    if (written === undefined || !isDeepStrictEqual(written.status, object.status)) return false
    // One copy is enough.
    this.#written.set(object.metadata.uid ?? '', object)
    return true
  }

  forget(uid: string): void {
    this.#written.delete(uid)
  }
}
