// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import type { RpcRouter } from '../api/rpc-router.ts'
import { type Child, type ChildStores, owningRouter } from '../cache/child-stores.ts'
import { type ApplyOptions, findObject, type KubeClient } from '../kube/client.ts'
import type { Clock } from '../kube/clock.ts'
import { ApiError, isConflict } from '../kube/errors.ts'
import {
  objectKey,
  type KubeObject,
  type ObjectRef,
  type ManagedFields,
  type Resource,
} from '../kube/object.ts'
import {
  fieldManager,
  hasForeignFields,
  takenOver,
  withForeignFields,
  handoverManager,
} from '../resources/foreign-fields.ts'
import { type Deployment, deployments } from '../resources/kinds.ts'
import { appliedAnnotation, instanceKeys, isChild } from '../resources/labels.ts'
import { digest, wantedReplicas } from '../translate/object-names.ts'
import { contains } from './contains.ts'
import { RecentWrites } from './recent-writes.ts'

/** Version of an empty etcd. An apply with it only creates; otherwise it conflicts. */
const versionOfNothing = '1'

const applyOptions: ApplyOptions = { fieldManager, force: true }

/** An existing object blocks a name: it has another owner, or is still being deleted. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError'
  readonly by: 'other-owner' | 'deletion'

  constructor(by: BlockedError['by'], message: string) {
    super(message)
    this.by = by
  }
}

export interface ChildApplierOptions {
  readonly client: Pick<KubeClient, 'get' | 'delete' | 'apply' | 'mergePatch'>
  readonly children: ChildStores
  readonly clock: Pick<Clock, 'nowMs'>
}

/**
 * Applies a router's objects that differ from the desired state. Each carries a hash of the intent,
 * so a restarted operator writes nothing if nothing changed.
 */
export class ChildApplier {
  readonly #client: ChildApplierOptions['client']
  readonly #children: ChildStores
  readonly #writes: RecentWrites

  constructor({ client, children, clock }: ChildApplierOptions) {
    this.#client = client
    this.#children = children
    this.#writes = new RecentWrites(clock)
    children.onChange(({ type, object }, resource) => {
      if (type === 'deleted') this.#writes.forget(pathOf(resource, object.metadata))
    })
  }

  /** Newest known state of an object, from the watch or from our write that the watch lacks. */
  latest<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): T | null {
    return this.#writes.latest(pathOf(resource, ref), this.#children.get(resource, objectKey(ref)))
  }

  /**
   * Brings one object to the desired state.
   * @throws BlockedError if an existing object blocks the name
   */
  async apply<T extends KubeObject>(
    router: RpcRouter,
    resource: Resource<T>,
    wanted: T,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.isApplied(router, resource, wanted)) return
    const intent = withHash(wanted)
    const known = this.latest(resource, wanted.metadata)
    if (known === null && (await this.#create(resource, intent, signal))) return
    // The object exists although the watch has not reported it; it may be foreign.
    const found = known ?? (await findObject(this.#client, resource, wanted.metadata, signal))
    if (found !== null) {
      claim(router, resource, found)
      if (hasForeignFields(found))
        await takeForeignFields(this.#client, resource, found.metadata, signal)
    }
    const apply = () => this.#client.apply(resource, intent, applyOptions, signal)
    const applied = await apply().catch(async (error: unknown) => {
      if (found === null || !isStorage(error)) throw error
      // Storage cannot change in place. The spec allows different storage only after mode None.
      await this.#client.delete(resource, found.metadata, signal)
      return apply()
    })
    this.#remember(resource, applied)
  }

  /** Creates an object in one request, so no write can race a read. @returns false if it exists */
  async #create<T extends KubeObject>(
    resource: Resource<T>,
    intent: T,
    signal: AbortSignal,
  ): Promise<boolean> {
    const metadata = { ...intent.metadata, resourceVersion: versionOfNothing }
    try {
      const created = { ...intent, metadata }
      this.#remember(resource, await this.#client.apply(resource, created, applyOptions, signal))
      return true
    } catch (error) {
      if (isConflict(error)) return false
      throw error
    }
  }

  /** Whether an object is known to have the desired state. */
  isApplied<T extends KubeObject>(router: RpcRouter, resource: Resource<T>, wanted: T): boolean {
    const known = this.latest(resource, wanted.metadata)
    if (known === null || !belongsTo(known, router)) return false
    const { deletionTimestamp, annotations = {} } = known.metadata
    const intent = withHash(wanted)
    return (
      deletionTimestamp === undefined &&
      annotations[appliedAnnotation] === hashOf(intent) &&
      !hasForeignFields(known) &&
      contains(known, intent)
    )
  }

  /** Returns the obsolete objects of a router that are not being deleted yet. */
  unwanted(
    router: RpcRouter,
    isWanted: (resource: Resource, object: KubeObject) => boolean,
  ): readonly Child[] {
    return this.#children
      .ownedBy(router)
      .filter(
        ({ resource, object }) =>
          object.metadata.deletionTimestamp === undefined && !isWanted(resource, object),
      )
  }

  /** Deletes a router's obsolete objects, but no newer object of the same name. */
  async prune(
    router: RpcRouter,
    isWanted: (resource: Resource, object: KubeObject) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    for (const { resource, object } of this.unwanted(router, isWanted))
      await this.#client.delete(resource, object.metadata, signal)
  }

  #remember(resource: Resource, object: KubeObject): void {
    this.#writes.remember(pathOf(resource, object.metadata), withForeignFields(object))
  }
}

/**
 * Checks that the operator may write to an existing object.
 * @throws BlockedError also for an object of an earlier router, which the garbage collector deletes
 */
function claim(router: RpcRouter, { kind }: Resource, found: KubeObject): void {
  const { name, deletionTimestamp, finalizers = [] } = found.metadata
  const isOurs = belongsTo(found, router) || isOrphanOf(found, router)
  if (isOurs && deletionTimestamp === undefined) return
  if (!isOurs && owningRouter(found)?.name !== router.metadata.name)
    throw new BlockedError(
      'other-owner',
      `a ${kind} named ${name} exists and does not belong to this RpcRouter, so the operator does not touch it. Delete it, or rename the router.`,
    )
  const owner = isOurs ? 'this RpcRouter' : 'an earlier RpcRouter of this name'
  const blockers =
    finalizers.length === 0 ? '' : `, held by its finalizers: ${finalizers.join(', ')}`
  throw new BlockedError(
    'deletion',
    `the ${kind} ${name} of ${owner} is still being deleted${blockers}`,
  )
}

/**
 * Takes over foreign fields, so that the next apply drops those that it does not name. It writes
 * only who owns the fields, no values.
 * @throws ApiError a conflict if the object has changed since it was read
 */
async function takeForeignFields(
  client: Pick<KubeClient, 'get' | 'mergePatch'>,
  resource: Resource,
  ref: KubeObject['metadata'],
  signal: AbortSignal,
): Promise<void> {
  const live = await client.get(resource, ref, signal)
  const { resourceVersion } = live.metadata
  const managedFields = takenOver(live)
  if (isDeepStrictEqual(managedFields, live.metadata.managedFields)) return
  const patch = { metadata: { resourceVersion, managedFields } }
  await client.mergePatch(resource, ref, patch, signal)
}

export function belongsTo({ metadata }: KubeObject, router: Pick<KubeObject, 'metadata'>): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ uid, controller }) => controller === true && uid === router.metadata.uid,
    ) ?? false
  )
}

/** Whether `kubectl delete --cascade=orphan` of a router of this name left the object. */
export function isOrphanOf(
  object: KubeObject,
  { metadata }: Pick<KubeObject, 'metadata'>,
): boolean {
  const isOwned = object.metadata.ownerReferences?.some(({ controller }) => controller === true)
  return !isOwned && isChild(object) && instanceKeys(object).includes(objectKey(metadata))
}

/** Whether the API server refuses to change the storage of a StatefulSet. */
function isStorage(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.causes.some(
      ({ field, reason }) =>
        field === 'spec.volumeClaimTemplates' ||
        // Before 1.37, Kubernetes does not name the field. Nothing else of it can differ.
        (field === 'spec' &&
          reason === 'FieldValueForbidden' &&
          error.message.includes('statefulset')),
    )
  )
}

/** Adds a hash of the intent, independent of the order of its keys. */
function withHash<T extends KubeObject>(intent: T): T {
  const hash = digest([
    JSON.stringify(intent, (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  ])
  const annotations = { ...intent.metadata.annotations, [appliedAnnotation]: hash }
  return { ...intent, metadata: { ...intent.metadata, annotations } }
}

function hashOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[appliedAnnotation] ?? ''
}

/** Returns a key that is unique across kinds. */
export function pathOf({ plural }: Resource, ref: ObjectRef): string {
  return `${plural} ${objectKey(ref)}`
}

/**
 * Applies the Deployment of a router. With autoscaling, the autoscaler owns the replica count.
 * Without an owner, the field falls back to 1, so another manager takes it before we drop it.
 */
export async function applyDeployment(
  client: Pick<KubeClient, 'get' | 'apply'>,
  children: ChildApplier,
  router: RpcRouter,
  wanted: Deployment,
  signal: AbortSignal,
): Promise<void> {
  if (wanted.spec.replicas === undefined && !children.isApplied(router, deployments, wanted)) {
    const count = wantedReplicas(router.spec)
    const find = () => findObject(client, deployments, wanted.metadata, signal)
    const present = await find()
    if (present === null) {
      const spec = { ...wanted.spec, replicas: count }
      await children.apply(router, deployments, { ...wanted, spec }, signal)
    }
    const live = present ?? (await find())
    if (live !== null && ownsReplicas(live.metadata.managedFields)) {
      const options = { fieldManager: handoverManager, force: true }
      await client.apply(deployments, countOf(live, count), options, signal)
    }
  }
  await children.apply(router, deployments, wanted, signal)
}

/** Returns only the count, at the version read. Autoscalers ignore a count of zero. */
function countOf({ apiVersion, kind, metadata, spec }: Deployment, usual: number): Deployment {
  const { name, namespace, resourceVersion } = metadata
  const replicas = spec.replicas === 0 ? usual : spec.replicas
  const count = { apiVersion, kind, metadata: { name, namespace, resourceVersion } }
  return { ...count, spec: { replicas } } as unknown as Deployment
}

/** Whether the operator owns the replica count. */
function ownsReplicas(managedFields: readonly ManagedFields[] = []): boolean {
  return managedFields.some(({ manager, operation, fieldsV1 }) => {
    const spec = fieldsV1?.['f:spec'] as Readonly<Record<string, unknown>> | undefined
    return manager === fieldManager && operation === 'Apply' && spec?.['f:replicas'] !== undefined
  })
}
