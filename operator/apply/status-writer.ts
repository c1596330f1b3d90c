// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../kube/clock.ts'
import { isNotFound, undeclaredFields } from '../kube/errors.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import type { KubeObject, Resource } from '../kube/object.ts'
import type { Store } from '../kube/store.ts'
import { statusManager } from '../resources/foreign-fields.ts'
import { occurrence } from '../status/condition-set.ts'
import { RecentWrites } from './recent-writes.ts'

type WithStatus<S> = KubeObject & { readonly status?: S | undefined }

/** Writes statuses that changed. */
export class StatusWriter<S extends object> {
  readonly #apply: (object: KubeObject, signal: AbortSignal) => Promise<WithStatus<S>>
  /** Objects written, by uid. */
  readonly #writes: RecentWrites
  readonly #events: Pick<EventRecorder, 'record'>

  /** @param store of the objects; when one is deleted, the writer forgets its status */
  constructor(
    client: Pick<KubeClient, 'apply'>,
    resource: Resource,
    store: Pick<Store<KubeObject>, 'subscribe'>,
    clock: Pick<Clock, 'nowMs'>,
    events: Pick<EventRecorder, 'record'>,
  ) {
    this.#events = events
    const options = { fieldManager: statusManager, force: true, subresource: 'status' } as const
    this.#apply = (object, signal) => client.apply(resource, object, options, signal)
    this.#writes = new RecentWrites(clock)
    store.subscribe(({ type, object }) => {
      if (type === 'deleted') this.#writes.forget(object.metadata.uid ?? '')
    })
  }

  /** Returns the object with the newest known status. */
  latest<T extends WithStatus<S>>(object: T): T {
    const newest = this.#writes.latest<WithStatus<S>>(object.metadata.uid ?? '', object)
    return newest === null || newest === object ? object : { ...object, status: newest.status }
  }

  /** @returns false if the status is unchanged or the object is gone */
  async write(object: WithStatus<S>, status: S, signal: AbortSignal): Promise<boolean> {
    const { apiVersion, kind, metadata } = object
    const { name, namespace, uid } = metadata
    // JSON drops undefined keys, as the API server does.
    const wanted = JSON.parse(JSON.stringify(status)) as S
    if (isDeepStrictEqual(this.latest(object).status, wanted)) return false
    // Given the uid, the API server refuses to write to a different object of the same name.
    const intent = { apiVersion, kind, metadata: { name, namespace, uid }, status: wanted }
    try {
      const written = await this.#applyDeclared(intent, signal)
      const known = { ...written, status: written.status ?? wanted }
      this.#writes.remember(uid ?? '', known)
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  /**
   * Applies what the cluster's CRD declares, since it may be older than the operator.
   * @param undeclared fields that the API server refused, one after the other
   */
  async #applyDeclared(
    object: WithStatus<S>,
    signal: AbortSignal,
    undeclared: readonly string[] = [],
  ): Promise<WithStatus<S>> {
    try {
      const written = await this.#apply(object, signal)
      const note = `The CRDs are older than this operator, and lack ${undeclared.toSorted().join(', ')}. Apply crds/ of the operator's version.`
      if (undeclared.length > 0)
        this.#events.record({ ...occurrence('CrdsOutdated', note), regarding: object })
      return written
    } catch (error) {
      const fields = undeclaredFields(error).filter((field) => !undeclared.includes(field))
      if (fields.length === 0) throw error
      return this.#applyDeclared(fields.reduce(without, object), signal, [...undeclared, ...fields])
    }
  }
}

/** Returns a value without a field, which may be in each item of a list. */
function without<T>(value: T, field: string): T {
  if (Array.isArray(value)) return value.map((each) => without<unknown>(each, field)) as T
  const [name = '', ...rest] = field.split('.')
  if (typeof value !== 'object' || value === null || !(name in value)) return value
  const { [name as keyof T]: inner, ...others } = value
  return { ...others, ...(rest.length > 0 && { [name]: without(inner, rest.join('.')) }) } as T
}
