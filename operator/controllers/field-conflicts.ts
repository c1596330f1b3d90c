// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import { isSameQuantity } from '../api/quantity.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../kube/clock.ts'
import type { KubeObject, ManagedFields, Resource } from '../kube/object.ts'

/*
 * Server-side apply keeps what another manager owns: an entry of a list, or a field that our intent does not name. What a
 * user set by hand, or an undone rollout brought back, would stay for ever, and pods might need objects that are gone.
 * Only the operator owns the spec of its objects: it takes such fields over, and the next apply drops them.
 */

/** The field manager of the objects of a router. */
export const fieldManager = 'rpc-router-operator'
/** The field manager of statuses. */
export const statusManager = 'rpc-router-operator-status'
/** The field manager that keeps the count of replicas between the operator and an autoscaler. */
export const handoverManager = 'rpc-router-operator-handover'

/** A user sets something once, and once more when it did not last; a controller goes on, mostly every 15 s. */
const minTimes = 3
const withinMs = 300_000

/** A set of fields as `fieldsV1` has it: a tree whose leaves are empty. */
interface FieldTree {
  readonly [path: string]: FieldTree
}

/** What others may set in the spec of our objects. */
const allowed = [
  // Owned by the autoscaler, if there is one; else the operator sets it by force, and counts how often.
  'f:replicas',
  // Of a Service: what clouds and load balancers write there.
  'f:loadBalancerIP',
  'f:loadBalancerClass',
  'f:healthCheckNodePort',
]
/** `kubectl rollout restart`, and tools that restart pods when something changes. */
const allowedInTemplate = ['f:metadata']

/** Another manager keeps setting what the operator puts back each time. */
export interface FieldConflict {
  readonly message: string
  /** When it ends, if nothing more is put back. */
  readonly leftMs: number
}

interface PutBacks {
  /** Of the last few, in their order. */
  readonly atMs: readonly number[]
  /** Of the router: a change of its spec may have ended the conflict. */
  readonly generation: number | undefined
  readonly message: string
}

/**
 * How often fields that others had set were put back lately, by object. After each time the object is as wanted again, so
 * its state alone does not show whether this happened once or goes on.
 */
export class FieldConflicts {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #putBacks = new Map<string, PutBacks>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /** Notes that an object was brought back from what was found to what is wanted. */
  count(path: string, router: KubeObject, found: KubeObject, wanted: KubeObject): void {
    const message = conflictMessage(found, wanted)
    if (message === null) return
    const { generation } = router.metadata
    const atMs = [...this.#recentMs(path, router), this.#clock.nowMs()].slice(-minTimes)
    this.#putBacks.set(path, { atMs, generation, message })
  }

  /** The conflict about an object; null when there is none. */
  of(path: string, router: KubeObject): FieldConflict | null {
    const recentMs = this.#recentMs(path, router)
    const { message = '' } = this.#putBacks.get(path) ?? {}
    if (recentMs.length < minTimes) return null
    return { message, leftMs: Math.min(...recentMs) + withinMs - this.#clock.nowMs() }
  }

  forget(path: string): void {
    this.#putBacks.delete(path)
  }

  #recentMs(path: string, { metadata }: KubeObject): readonly number[] {
    const known = this.#putBacks.get(path)
    if (known === undefined || known.generation !== metadata.generation) return []
    const sinceMs = this.#clock.nowMs() - withinMs
    return known.atMs.filter((ms) => ms > sinceMs)
  }
}

/** Which managers set what is not as wanted; null for none. Others may own the count while it is the right one. */
function conflictMessage(found: KubeObject, wanted: KubeObject): string | null {
  const { managedFields = [] } = found.metadata
  const count = countOf(wanted)
  const isOtherCount = count !== undefined && countOf(found) !== count
  const foreign = foreignManagers(found)
  const counting = isOtherCount ? namesOf(managedFields.filter(setsCount)) : []
  const managers = [...new Set([...foreign, ...counting])].toSorted()
  if (managers.length === 0) return null
  const isCount = foreign.length === 0
  const fields = isCount ? 'spec.replicas' : 'fields that the operator must own'
  const others = managers.map((manager) => (isCount ? countWriter(manager) : manager))
  return `${fields} of the ${wanted.kind} ${wanted.metadata.name}: set again and again by ${others.join(', ')}, and put back each time`
}

/** A HorizontalPodAutoscaler writes under a name that few users recognize. */
function countWriter(manager: string): string {
  return manager === 'kube-controller-manager' ? `a HorizontalPodAutoscaler (${manager})` : manager
}

/** The object with the record of only those foreign fields that the operator owns or may own: mostly none. */
export function withForeignFields<T extends KubeObject>(object: T): T {
  const { managedFields = [], ...metadata } = object.metadata
  const kept = managedFields.filter(
    (entry) => foreignPart(object, entry) !== null || setsCount(entry),
  )
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...metadata, managedFields: kept },
  }
}

/** The names of other managers of fields that the operator must own. */
export function foreignManagers(object: KubeObject): readonly string[] {
  const { managedFields = [] } = object.metadata
  return namesOf(managedFields.filter((entry) => foreignPart(object, entry) !== null))
}

function countOf(object: KubeObject): number | undefined {
  return (object as KubeObject & { spec?: { replicas?: number } }).spec?.replicas
}

/** Whether another manager sets the count. */
export function setsCount(entry: ManagedFields): boolean {
  const { manager = '' } = entry
  if (manager === fieldManager || manager === handoverManager) return false
  return treeOf(entry)['f:spec']?.['f:replicas'] !== undefined
}

function namesOf(entries: readonly ManagedFields[]): readonly string[] {
  return [...new Set(entries.map(({ manager = 'unknown' }) => manager))].toSorted()
}

/**
 * Makes the fields of others ours, so that the next apply drops those that it does not name. It writes the owners of
 * fields, no values.
 *
 * @throws ApiError a conflict when the object has changed since it was read
 */
export async function takeForeignFields(
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

/** The record of owners with the foreign fields taken over. Other fields of such a writer have no owner. */
export function takenOver(object: KubeObject): readonly ManagedFields[] {
  const { apiVersion, metadata } = object
  const { managedFields = [] } = metadata
  const parts = managedFields.map((entry) => foreignPart(object, entry))
  const taken = parts.filter((part) => part !== null)
  if (taken.length === 0) return managedFields
  const ours = managedFields.find(isOurs) ?? {
    manager: fieldManager,
    operation: 'Apply' as const,
    apiVersion,
    fieldsType: 'FieldsV1' as const,
  }
  const fieldsV1 = taken.reduce((all, part) => union(all, { 'f:spec': part }), treeOf(ours))
  const others = managedFields.filter((entry, at) => !isOurs(entry) && parts[at] === null)
  return [...others, { ...ours, fieldsV1 }]
}

function isOurs({ manager, operation, subresource }: ManagedFields): boolean {
  return manager === fieldManager && operation === 'Apply' && !subresource
}

/** What of an entry is foreign, below the spec. What webhooks of the cluster add to our writes is under our name. */
function foreignPart({ apiVersion }: KubeObject, entry: ManagedFields): FieldTree | null {
  if (entry.manager === fieldManager || entry.apiVersion !== apiVersion) return null
  const { 'f:template': template = {}, ...fields } = treeOf(entry)['f:spec'] ?? {}
  const spec = without(fields, allowed)
  const pod = without(template, allowedInTemplate)
  const foreign = Object.keys(pod).length === 0 ? spec : { ...spec, 'f:template': pod }
  return Object.keys(foreign).length === 0 ? null : foreign
}

function without(tree: FieldTree, paths: readonly string[]): FieldTree {
  return Object.fromEntries(Object.entries(tree).filter(([path]) => !paths.includes(path)))
}

function union(a: FieldTree, b: FieldTree): FieldTree {
  const both = { ...a }
  for (const [path, below] of Object.entries(b)) both[path] = union(a[path] ?? {}, below)
  return both
}

function treeOf({ fieldsV1 = {} }: ManagedFields): FieldTree {
  return fieldsV1 as FieldTree
}

/**
 * Whether an object has all that an intent says: every field, and lists item by item. What is there beside it, such
 * as defaults of the API server, does not count. An absent value equals zero or an empty list, since the API server
 * leaves these out; amounts of resources are compared by value.
 */
export function contains(object: unknown, intent: unknown): boolean {
  if (object === undefined || object === null) return isZero(intent)
  if (Array.isArray(intent)) {
    return (
      Array.isArray(object) &&
      object.length === intent.length &&
      intent.every((item, index) => contains(object[index], item))
    )
  }
  if (typeof intent !== 'object' || intent === null) return object === intent
  if (typeof object !== 'object') return false
  const fields = object as Readonly<Record<string, unknown>>
  return Object.entries(intent).every(([key, value]) =>
    amountFields.has(key) ? hasAmounts(fields[key], value) : contains(fields[key], value),
  )
}

/** Fields whose values are quantities, by resource. */
const amountFields: ReadonlySet<string> = new Set(['requests', 'limits'])

function hasAmounts(object: unknown, intent: unknown): boolean {
  const amounts = (object ?? {}) as Readonly<Record<string, string | number | undefined>>
  return Object.entries((intent ?? {}) as typeof amounts).every(([resource, amount = 0]) => {
    const present = amounts[resource]
    return present !== undefined && isSameQuantity(present, amount)
  })
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === 0 || value === false || value === ''
}
