// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { Applier } from '../kube/applier.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../kube/clock.ts'
import { isForbidden, isNotFound } from '../kube/errors.ts'
import { keyOf, type KubeObject, type ObjectRef } from '../kube/object.ts'
import type { Resource } from '../kube/resource.ts'
import { type ConfigMap, rpcRouters } from '../resources/kinds.ts'
import { appliedAnnotation, childLabel, isChild } from '../resources/labels.ts'
import { digest } from '../translate/digest.ts'
import type { Child, ChildStores } from './child-stores.ts'
import { contains } from './contains.ts'
import { Contests } from './contests.ts'
import {
  FieldsContestedError,
  ForeignFieldsError,
  NameConflictError,
  StillThereError,
} from './errors.ts'
import {
  contendersOf,
  foreignManagers,
  takeForeignFields,
  withForeignFields,
} from './foreign-fields.ts'
import { owningRouter } from './owner.ts'

/** What the API server had when we last wrote an object. */
interface Written {
  readonly hash: string
  readonly object: KubeObject
}

export interface ChildApplierOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'delete' | 'mergePatch'>
  readonly applier: Pick<Applier, 'apply' | 'applyNew'>
  readonly children: ChildStores
  readonly clock: Pick<Clock, 'nowMs'>
}

/**
 * Applies what a router consists of, and only what is not as it should be: each object carries a hash of what was
 * asked for, so that an operator that starts anew writes nothing when nothing changed.
 */
export class ChildApplier {
  readonly #options: ChildApplierOptions
  /** By kind and key. What the watch has not brought yet is known from here. */
  readonly #written = new Map<string, Written>()
  readonly #contests: Contests

  constructor(options: ChildApplierOptions) {
    this.#options = options
    this.#contests = new Contests(options.clock)
    options.children.onChange(({ type, object }, resource) => {
      const path = pathOf(resource, keyOf(object.metadata))
      const written = this.#written.get(path)
      if (type === 'deleted') {
        this.#written.delete(path)
        this.#contests.forget(path)
      }
      // What the watch brings of our own words is the same: one copy is enough.
      else if (written && isSameVersion(written.object, object))
        this.#written.set(path, { hash: written.hash, object })
    })
  }

  /** What is known of an object: from the watch, and of our own writes before that brings them. */
  latest<T extends KubeObject>(resource: Resource<T>, key: string): T | null {
    return this.#options.children.get(resource, key) ?? null
  }

  /**
   * Brings one object to what is wanted.
   *
   * @returns whether something was written
   * @throws NameConflictError when the name is taken by somebody else
   * @throws ForeignFieldsError when somebody else sets what is ours to say as fast as it is taken back
   */
  async apply<T extends KubeObject>(
    router: RpcRouter,
    resource: Resource<T>,
    wanted: T,
    signal: AbortSignal,
  ): Promise<boolean> {
    const key = keyOf(wanted.metadata)
    const hash = intentHash(wanted)
    const intent = withHash(wanted, hash)
    const known = this.latest(resource, key)
    if (known !== null && this.#isSettled(router, resource, known, intent, hash)) return false
    const { applier } = this.#options
    const made = known === null ? await applier.applyNew(resource, intent, signal) : null
    if (made !== null) {
      this.#remember(resource, hash, made)
      return true
    }
    // The watch tells of nothing, and something is there: of ours, or of others.
    const found = known ?? (await this.#find(resource, intent.metadata, signal))
    if (found !== null) await this.#claim(router, resource, found, signal)
    // Such a ConfigMap can only be replaced. Somebody else made it, or its name would tell of another content.
    if (found !== null && isFrozen(found, wanted)) await this.#delete(resource, found, signal)
    else if (found !== null && foreignManagers(found).length > 0)
      await takeForeignFields(this.#options.client, resource, found.metadata, signal)
    const applied = await applier.apply(resource, intent, signal)
    this.#remember(resource, hash, applied)
    const others = foreignManagers(applied)
    if (others.length > 0) throw new ForeignFieldsError(resource.kind, wanted.metadata.name, others)
    // It had been applied like this.
    if (found?.metadata.annotations?.[appliedAnnotation] === hash)
      this.#notePutBack(router, resource, found, wanted)
    return true
  }

  /** Throws a FieldsContestedError when somebody else goes on setting what `apply` has to put back each time. */
  checkContest(router: RpcRouter, resource: Resource, { metadata }: KubeObject): void {
    const path = pathOf(resource, keyOf(metadata))
    const contest = this.#contests.of(path, router.metadata.generation)
    if (contest === null) return
    throw new FieldsContestedError(resource.kind, metadata.name, contest.by, contest.leftMs)
  }

  #notePutBack(router: RpcRouter, resource: Resource, found: KubeObject, wanted: KubeObject): void {
    const by = contendersOf(found, wanted)
    const isGone = this.latest(resource, keyOf(wanted.metadata)) === null
    if (by.managers.length === 0 || isGone) return
    const path = pathOf(resource, keyOf(wanted.metadata))
    this.#contests.putBack(path, router.metadata.generation, by)
  }

  /**
   * Brings an object of the router's under the watch again that lost the label by which the watch selects: without it,
   * what runs would look as if it did not.
   */
  async reclaim(
    router: RpcRouter,
    resource: Resource,
    name: string,
    signal: AbortSignal,
  ): Promise<void> {
    const ref = { namespace: router.metadata.namespace, name }
    if (this.latest(resource, keyOf(ref)) !== null) return
    const { client, children } = this.#options
    try {
      const found = await this.#find(resource, ref, signal)
      if (found === null || !belongsTo(found, router) || isChild(found)) return
      const patch = { metadata: { labels: childLabel } }
      const labelled = await client.mergePatch(resource, ref, patch, signal)
      // A list that was begun before would take it away again.
      children.store(resource).wrote(withForeignFields(labelled))
    } catch (error) {
      // In a namespace that goes, the rights may go first; what is applied is refused as well then.
      if (!isForbidden(error) && !isNotFound(error)) throw error
    }
  }

  /** Whether what the watch brings is what we wrote ourselves. */
  isOwnWrite(resource: Resource, { metadata }: Pick<KubeObject, 'metadata'>): boolean {
    const written = this.#written.get(pathOf(resource, keyOf(metadata)))?.object
    return written !== undefined && isSameVersion(written, { metadata })
  }

  /** Whether an object is known to be as it is wanted. */
  isApplied<T extends KubeObject>(router: RpcRouter, resource: Resource<T>, wanted: T): boolean {
    const known = this.latest(resource, keyOf(wanted.metadata))
    const hash = intentHash(wanted)
    return known !== null && this.#isSettled(router, resource, known, withHash(wanted, hash), hash)
  }

  #isSettled<T extends KubeObject>(
    router: RpcRouter,
    resource: Resource<T>,
    known: T,
    intent: T,
    hash: string,
  ): boolean {
    if (!belongsTo(known, router) || known.metadata.deletionTimestamp !== undefined) return false
    if (known.metadata.annotations?.[appliedAnnotation] !== hash) return false
    if (foreignManagers(known).length > 0) return false
    const written = this.#written.get(pathOf(resource, keyOf(known.metadata)))
    // The API server may write an amount in another way than we do: what it made of our own words is right.
    if (written?.hash === hash && isUnchanged(written.object, known)) return true
    return !isFrozen(known, intent) && contains(known, intent)
  }

  /** What belongs to a router, is not wanted any more, and is not on its way out yet. */
  unwanted(
    router: RpcRouter,
    isWanted: (resource: Resource, object: KubeObject) => boolean,
  ): readonly Child[] {
    return this.#options.children
      .ownedBy(router)
      .filter(
        ({ resource, object }) =>
          object.metadata.deletionTimestamp === undefined && !isWanted(resource, object),
      )
  }

  /** Deletes what belongs to a router and is not wanted any more. */
  async prune(
    router: RpcRouter,
    isWanted: (resource: Resource, object: KubeObject) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    for (const { resource, object } of this.unwanted(router, isWanted))
      await this.#delete(resource, object, signal)
  }

  /** Deletes an object, and no other of its name that came after it. */
  async #delete(resource: Resource, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    const { uid } = metadata
    await this.#options.client.delete(resource, metadata, uid === undefined ? {} : { uid }, signal)
  }

  async #find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    signal: AbortSignal,
  ): Promise<T | null> {
    try {
      return await this.#options.client.get(resource, ref, signal)
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /** Makes sure that an object of the wanted name is ours to write. */
  async #claim(
    router: RpcRouter,
    resource: Resource,
    found: KubeObject,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, uid, deletionTimestamp, finalizers } = found.metadata
    const isOurs = belongsTo(found, router)
    if (!isOurs && !(await this.#isLeft(router, found, signal)))
      throw new NameConflictError(resource.kind, name)
    if (isOurs && deletionTimestamp === undefined) return
    // The garbage collector is slower than people.
    if (!isOurs && deletionTimestamp === undefined && uid !== undefined)
      await this.#options.client.delete(resource, found.metadata, { uid }, signal)
    throw new StillThereError(resource.kind, name, isOurs ? 'this' : 'earlier', finalizers)
  }

  /**
   * Whether an object is of a router of the same name that is gone. Its uid is asked for, as the watch may be behind: a
   * router that was made anew would lose what is its own.
   */
  async #isLeft(router: RpcRouter, found: KubeObject, signal: AbortSignal): Promise<boolean> {
    const { namespace, name } = router.metadata
    const owner = owningRouter(found)
    if (owner?.name !== name) return false
    // Routers are listed and watched: this needs no further right.
    const named = { namespace, fieldSelector: `metadata.name=${name}` }
    const { items } = await this.#options.client.list(rpcRouters, named, signal)
    return items.every(({ metadata }) => metadata.uid !== owner.uid)
  }

  #remember(resource: Resource, hash: string, object: KubeObject): void {
    const kept = withForeignFields(object)
    const key = keyOf(object.metadata)
    const path = pathOf(resource, key)
    // First this: the store tells others of the object, who ask whose write it is.
    this.#written.set(path, { hash, object: kept })
    this.#options.children.store(resource).wrote(kept)
    // The watch was faster than the answer, and told of its end as well: nothing would ever forget it.
    if (this.latest(resource, key) === null) this.#written.delete(path)
  }
}

export function belongsTo({ metadata }: KubeObject, router: Pick<KubeObject, 'metadata'>): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ uid, controller }) => controller === true && uid === router.metadata.uid,
    ) ?? false
  )
}

/** Whether an object says of itself that its data never changes, and has other data than is wanted. */
function isFrozen(found: ConfigMap, wanted: ConfigMap): boolean {
  return found.immutable === true && !isDeepStrictEqual(found.data, wanted.data)
}

/** A hash of an intent, whatever the order of its keys. */
function intentHash(intent: KubeObject): string {
  return digest([
    JSON.stringify(intent, (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  ])
}

function withHash<T extends KubeObject>(intent: T, hash: string): T {
  const annotations = { ...intent.metadata.annotations, [appliedAnnotation]: hash }
  return { ...intent, metadata: { ...intent.metadata, annotations } }
}

/** The same but for the status: what the API server counts in `generation`, and what it does not. */
function isUnchanged(written: KubeObject, known: KubeObject): boolean {
  const [a, b] = [written.metadata, known.metadata]
  if (a.uid !== b.uid) return false
  if (a.resourceVersion === b.resourceVersion) return true
  return (
    a.generation !== undefined &&
    a.generation === b.generation &&
    isDeepStrictEqual(a.labels, b.labels) &&
    contains(b.annotations, a.annotations) &&
    isDeepStrictEqual(a.ownerReferences, b.ownerReferences)
  )
}

function isSameVersion(
  { metadata: a }: Pick<KubeObject, 'metadata'>,
  { metadata: b }: Pick<KubeObject, 'metadata'>,
): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion
}

/** Tells objects apart, whatever their kind. */
export function pathOf({ plural }: Resource, key: string): string {
  return `${plural} ${key}`
}
