// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../kube/clock.ts'
import { isNotFound } from '../kube/errors.ts'
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
      const written = await this.#apply(intent, signal)
      const known = { ...written, status: written.status ?? wanted }
      this.#writes.remember(uid ?? '', known)
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      const declared = withoutUndeclared(wanted, error as Error)
      if (isDeepStrictEqual(declared, wanted)) throw error
      const note = `The CRDs are older than this operator: apply crds/ of its version. Until then, the status lacks a field. ${(error as Error).message}`
      this.#events.record({ ...occurrence('CrdsOutdated', note), regarding: object })
      return this.write(object, declared, signal)
    }
  }
}

/** Returns a status without the fields that the API server refused because the CRD lacks them. */
function withoutUndeclared<S extends object>(status: S, { message }: Error): S {
  const rest = structuredClone(status)
  for (const [, path = ''] of message.matchAll(/ \.status\.(\S+): field not declared in schema/g)) {
    const names = path.replaceAll(/\[[^\]]*\]/g, '').split('.')
    const last = names.pop() ?? ''
    // The field may be in each item of a list.
    const all = names.reduce(
      (found, name) => found.flatMap((each) => (Reflect.get(each, name) ?? []) as object),
      [rest as object],
    )
    for (const each of all) Reflect.deleteProperty(each, last)
  }
  return rest
}
