// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { WatchEvent } from '../answers.ts'
import type { ApplyOptions, KubeClient, Selection, WatchOptions } from '../client.ts'
import { ApiError } from '../errors.ts'
import { objectKey, type KubeObject, type ObjectRef, type Resource } from '../object.ts'
import type { Verb } from '../observer.ts'

type Stored = KubeObject & { readonly status?: unknown }

interface LoggedEvent {
  readonly version: number
  readonly plural: string
  readonly event: WatchEvent<KubeObject>
}

/** A request that the server received. */
export interface ReceivedRequest {
  readonly verb: Verb
  readonly plural: string
  readonly name: string
  /** Absent for all namespaces. */
  readonly namespace?: string
}

/**
 * An API server in virtual time, for tests of controllers: versions, generations, watches, and
 * faults that the test injects. It validates nothing; `e2e/kube` tests against the real one.
 */
export class FakeApiServer {
  readonly requests: ReceivedRequest[] = []
  /** Returns the error for a request, or null to serve it. */
  refuse: (request: ReceivedRequest) => Error | null = () => null
  /** Delays the answer to a request until the promise resolves. */
  hold: (request: ReceivedRequest) => Promise<void> = () => Promise.resolve()
  /** Kinds whose watches deliver no events. */
  readonly deaf = new Set<string>()
  /** Kinds of monitors that exist, by their plural. */
  readonly installed = new Set<string>()
  readonly #objects = new Map<string, Stored>()
  readonly #log: LoggedEvent[] = []
  readonly #wake = new Set<() => void>()
  /** Version of an empty etcd. */
  #version = 1

  get client(): KubeClient {
    return {
      get: (resource: Resource, ref: ObjectRef) =>
        this.#answer('get', resource, ref, () => this.#get(resource, ref)),
      list: (resource: Resource, selection: Selection) =>
        this.#answer('list', resource, { ...selection, name: '' }, () => ({
          items: this.list(resource).filter(isOf(selection)).map(shownBy(selection)),
          resourceVersion: String(this.#version),
        })),
      apply: (resource: Resource, object: KubeObject, { subresource }: ApplyOptions) =>
        this.#answer('patch', resource, object.metadata, () => {
          if (subresource !== 'status') return this.#apply(resource, object)
          return this.putStatus(resource, object.metadata, (object as Stored).status)
        }),
      create: (resource: Resource, object: KubeObject) =>
        this.#answer('create', resource, object.metadata, () => this.put(resource, object)),
      mergePatch: (resource: Resource, ref: ObjectRef) =>
        this.#answer('patch', resource, ref, () => this.#get(resource, ref)),
      delete: (resource: Resource, ref: ObjectRef) =>
        this.#answer('delete', resource, ref, () => this.remove(resource, ref)),
      watch: (resource: Resource, options: WatchOptions, signal: AbortSignal) =>
        this.#watch(resource, options, signal),
    } as unknown as KubeClient
  }

  list<T extends KubeObject>({ plural }: Resource<T>): readonly T[] {
    return [...this.#objects]
      .filter(([path]) => path.startsWith(`${plural} `))
      .map(([, object]) => object as KubeObject as T)
  }

  find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | null {
    return (this.#objects.get(pathOf(resource, ref)) as T | undefined) ?? null
  }

  /** Stores an object without its status. An unchanged object gets no new version. */
  put(resource: Resource, object: KubeObject): KubeObject {
    const before = this.#objects.get(pathOf(resource, object.metadata))
    const { metadata, status: _, ...rest } = object as Stored
    const { metadata: known, status, ...old } = before ?? { metadata: { name: '', generation: 0 } }
    const isSame = isDeepStrictEqual(strip(rest), strip(old))
    const next: Stored = {
      ...rest,
      metadata: {
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...known,
        ...metadata,
        uid: known.uid ?? `uid-${this.#version + 1}`,
        generation: (known.generation ?? 0) + (isSame ? 0 : 1),
        resourceVersion: known.resourceVersion,
      },
      ...(status !== undefined && { status }),
    }
    if (before !== undefined && isDeepStrictEqual(strip(next), strip(before))) return before
    return this.#store(resource, next, before === undefined ? 'ADDED' : 'MODIFIED')
  }

  putStatus(resource: Resource, ref: ObjectRef, status: unknown): KubeObject {
    const before = this.#get(resource, ref)
    if (isDeepStrictEqual(strip(before.status), strip(status))) return before
    return this.#store(resource, { ...before, status }, 'MODIFIED')
  }

  /** Deletes an object. One with a finalizer only gets a deletion timestamp. */
  remove(resource: Resource, ref: ObjectRef): boolean {
    const before = this.find(resource, ref)
    if (before === null) return false
    if ((before.metadata.finalizers ?? []).length > 0) {
      const metadata = { ...before.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
      this.#store(resource, { ...before, metadata }, 'MODIFIED')
      return true
    }
    this.#objects.delete(pathOf(resource, ref))
    this.#publish(resource, 'DELETED', before)
    return true
  }

  /** Completes the deletion of an object with finalizers. */
  finish(resource: Resource, ref: ObjectRef): void {
    const before = this.#get(resource, ref)
    this.#objects.delete(pathOf(resource, ref))
    this.#publish(resource, 'DELETED', before)
  }

  /** Applies an object. Refuses it with a conflict if its resource version is stale. */
  #apply(resource: Resource, object: KubeObject): KubeObject {
    const { name, resourceVersion } = object.metadata
    const before = this.find(resource, object.metadata)
    const isOther = before !== null && before.metadata.resourceVersion !== resourceVersion
    if (resourceVersion !== undefined && isOther)
      throw new ApiError(`${resource.plural} ${name}`, 409, { reason: 'Conflict' })
    return this.put(resource, object)
  }

  #get(resource: Resource, ref: ObjectRef): Stored {
    const found = this.#objects.get(pathOf(resource, ref))
    if (found === undefined)
      throw new ApiError(`${resource.plural} ${ref.name}`, 404, { reason: 'NotFound' })
    return found
  }

  async #answer<T>(
    verb: Verb,
    { plural }: Resource,
    { name, namespace }: ObjectRef,
    answer: () => T,
  ): Promise<T> {
    const request = { verb, plural, name, ...(namespace !== undefined && { namespace }) }
    this.requests.push(request)
    const refusal = this.refuse(request)
    if (refusal !== null) throw refusal
    this.#requireKind(plural)
    await this.hold(request)
    return structuredClone(answer())
  }

  #requireKind(plural: string): void {
    if (plural.endsWith('monitors') && !this.installed.has(plural))
      throw new ApiError(plural, 404, { message: '404 page not found' })
  }

  #store(resource: Resource, object: Stored, type: 'ADDED' | 'MODIFIED'): KubeObject {
    const metadata = { ...object.metadata, resourceVersion: String(this.#version + 1) }
    const stored = { ...object, metadata }
    this.#objects.set(pathOf(resource, metadata), stored)
    this.#publish(resource, type, stored)
    return stored
  }

  #publish({ plural }: Resource, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    this.#version += 1
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) }
    const event = { type, object: structuredClone({ ...object, metadata }) }
    this.#log.push({ version: this.#version, plural, event })
    for (const wake of this.#wake) wake()
  }

  async *#watch(
    { plural }: Resource,
    { resourceVersion, ...selection }: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<KubeObject>> {
    let index = 0
    while (!signal.aborted) {
      this.#requireKind(plural)
      const logged = this.#log[index]
      if (logged === undefined) {
        await this.#next(signal)
        continue
      }
      index += 1
      const isNews = logged.plural === plural && logged.version > Number(resourceVersion)
      if (!isNews || this.deaf.has(plural)) continue
      const { event } = logged
      if (event.type === 'BOOKMARK') yield event
      else if (isOf(selection)(event.object))
        yield { ...event, object: shownBy(selection)(event.object) }
    }
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake.delete(wake)
        resolve()
      }
      this.#wake.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

function isOf({ namespace, labelSelector = '' }: Selection): (object: KubeObject) => boolean {
  const wanted = labelSelector.split(',').filter((each) => each !== '')
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    wanted.every((each) => {
      const [key = '', value] = each.split('=')
      return metadata.labels?.[key] === value
    })
}

function shownBy({ metadataOnly }: Selection): (object: KubeObject) => KubeObject {
  return (object) => (metadataOnly ? onlyMetadata(object) : object)
}

function onlyMetadata({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata }
}

function pathOf({ plural }: Resource, ref: ObjectRef): string {
  return `${plural} ${objectKey({ namespace: ref.namespace, name: ref.name })}`
}

/** Drops undefined keys, as JSON does. */
function strip(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
