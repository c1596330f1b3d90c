// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject, ManagedFields } from '../kube/object.ts'

/*
 * Server-side apply retains fields of other managers that our intent does not name. Fields that a
 * user sets by hand, or that an undone rollout restores, would stay forever, and pods might need
 * deleted objects. So the operator takes over such fields, and its next apply drops them.
 */

/** Field manager of a router's objects. */
export const fieldManager = 'rpc-router-operator'
/** Field manager of statuses. */
export const statusManager = 'rpc-router-operator-status'
/** Field manager that owns the replica count during a handover to an autoscaler. */
export const handoverManager = 'rpc-router-operator-handover'

/** A set of fields in `fieldsV1` form: a tree whose leaves are empty. */
interface FieldTree {
  readonly [path: string]: FieldTree
}

/** Fields that others may set in the spec of our objects. */
const allowed = [
  // An autoscaler, if any, owns the count. Otherwise, the operator forces it.
  'f:replicas',
  // Clouds and load balancers write these into a Service.
  'f:loadBalancerIP',
  'f:loadBalancerClass',
  'f:healthCheckNodePort',
]
/** `kubectl rollout restart` and similar tools set annotations of the template. */
const allowedInTemplate = ['f:metadata']

/** Reduces `managedFields` to entries with foreign fields or a replica count; usually none. */
export function withForeignFields<T extends KubeObject>(object: T): T {
  const { managedFields = [], ...metadata } = object.metadata
  const retained = managedFields.filter(
    (entry) => foreignPart(object, entry) !== null || setsCount(entry),
  )
  return {
    ...object,
    metadata: retained.length === 0 ? metadata : { ...metadata, managedFields: retained },
  }
}

/** Whether other managers own fields that the operator must own. */
export function hasForeignFields(object: KubeObject): boolean {
  const { managedFields = [] } = object.metadata
  return managedFields.some((entry) => foreignPart(object, entry) !== null)
}

/** Whether another manager sets the replica count. */
export function setsCount(entry: ManagedFields): boolean {
  const { manager = '' } = entry
  if (manager === fieldManager || manager === handoverManager) return false
  return treeOf(entry)['f:spec']?.['f:replicas'] !== undefined
}

/** Returns `managedFields` after the takeover. Other fields of such a manager lose their owner. */
export function takenOver(object: KubeObject): readonly ManagedFields[] {
  const { apiVersion, metadata } = object
  const { managedFields = [] } = metadata
  const parts = managedFields.map((entry) => foreignPart(object, entry))
  const foreign = parts.filter((part) => part !== null)
  if (foreign.length === 0) return managedFields
  const ours = managedFields.find(isOurs) ?? {
    manager: fieldManager,
    operation: 'Apply' as const,
    apiVersion,
    fieldsType: 'FieldsV1' as const,
  }
  const fieldsV1 = foreign.reduce((all, part) => union(all, { 'f:spec': part }), treeOf(ours))
  const others = managedFields.filter((entry, at) => !isOurs(entry) && parts[at] === null)
  return [...others, { ...ours, fieldsV1 }]
}

function isOurs({ manager, operation, subresource }: ManagedFields): boolean {
  return manager === fieldManager && operation === 'Apply' && !subresource
}

/** Returns the foreign fields of an entry below the spec, if any. */
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
