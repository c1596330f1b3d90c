// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  isQualifiedName,
  isSubdomain,
  keyForm,
  labelValue,
  subdomainForm,
  valueForm,
} from '../api/label-forms.ts'
import { isList, isMap, type Json, type JsonMap } from '../admission/fault.ts'

/** All that metadata may have, each with the type that it must have; null means that it is not set. */
const types: Readonly<Record<string, 'text' | 'whole number' | 'map' | 'list'>> = {
  name: 'text',
  generateName: 'text',
  namespace: 'text',
  selfLink: 'text',
  uid: 'text',
  resourceVersion: 'text',
  generation: 'whole number',
  creationTimestamp: 'text',
  deletionTimestamp: 'text',
  deletionGracePeriodSeconds: 'whole number',
  labels: 'map',
  annotations: 'map',
  ownerReferences: 'list',
  finalizers: 'list',
  managedFields: 'list',
}

const mostAnnotationBytes = 256 * 1024

/** What the API server would refuse the metadata of an object for, each in a line. */
export function metadataFaults(metadata: JsonMap): readonly string[] {
  const faults = Object.entries(metadata).flatMap(([name, value]) => typeFaults(name, value))
  if (faults.length > 0) return faults
  const { labels, annotations, finalizers, ownerReferences, generateName } = metadata
  return [
    ...nameFaults(metadata),
    ...(isMap(labels) ? labelFaults(labels) : []),
    ...(isMap(annotations) ? annotationFaults(annotations) : []),
    ...(isList(finalizers) ? finalizers.flatMap(finalizerFaults) : []),
    ...(isList(ownerReferences) ? ownerFaults(ownerReferences) : []),
    ...(typeof generateName === 'string' &&
    generateName !== '' &&
    !isSubdomain(generateName.replace(/.-$/, 'a'))
      ? [`metadata.generateName must be the begin of a name: ${subdomainForm}`]
      : []),
  ]
}

/** As the API server would store it. */
export function withoutNulls(metadata: JsonMap): JsonMap {
  const set = Object.entries(metadata).filter(([, value]) => value !== null)
  return Object.fromEntries(
    set.map(([name, value]) => [
      name,
      types[name] === 'map' && isMap(value)
        ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, text ?? '']))
        : value,
    ]),
  )
}

function typeFaults(name: string, value: Json): readonly string[] {
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (type === undefined) return [`unknown field "metadata.${name}"`]
  if (value === null) return []
  if (type === 'text')
    return typeof value === 'string' ? [] : [`metadata.${name} must be a text: put it in quotes`]
  if (type === 'whole number')
    return Number.isSafeInteger(value) ? [] : [`metadata.${name} must be a whole number`]
  if (type === 'list') return isList(value) ? [] : [`metadata.${name} must be a list`]
  if (!isMap(value)) return [`metadata.${name} must be a map of keys to texts`]
  return Object.entries(value)
    .filter(([, text]) => text !== null && typeof text !== 'string')
    .map(([key]) => `metadata.${name}: the value of ${key} must be a text: put it in quotes`)
}

function nameFaults({ name, namespace }: JsonMap): readonly string[] {
  const isLabel =
    typeof namespace === 'string' && /^[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?$/.test(namespace)
  return [
    ...(typeof name === 'string' && name !== '' && !isSubdomain(name)
      ? [`metadata.name must have ${subdomainForm}`]
      : []),
    ...(typeof namespace === 'string' && namespace !== '' && !isLabel
      ? [
          'metadata.namespace must have at most 63 lower-case letters, digits and -, and letters or digits at both ends',
        ]
      : []),
  ]
}

function labelFaults(labels: JsonMap): readonly string[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(isQualifiedName(key) ? [] : [`metadata.labels: the key ${key} must have ${keyForm}`]),
    ...(typeof value !== 'string' || labelValue.test(value)
      ? []
      : [`metadata.labels: the value of ${key} must have ${valueForm}`]),
  ])
}

function annotationFaults(annotations: JsonMap): readonly string[] {
  const bytes = Object.entries(annotations)
    .flat()
    .reduce<number>((sum, text) => sum + Buffer.byteLength(typeof text === 'string' ? text : ''), 0)
  return [
    ...Object.keys(annotations)
      .filter((key) => !isQualifiedName(key.toLowerCase()))
      .map((key) => `metadata.annotations: the key ${key} must have ${keyForm}`),
    ...(bytes > mostAnnotationBytes ? ['metadata.annotations may have at most 256 KiB'] : []),
  ]
}

function finalizerFaults(finalizer: Json, index: number): readonly string[] {
  const path = `metadata.finalizers[${index}]`
  if (typeof finalizer !== 'string') return [`${path} must be a text: put it in quotes`]
  return isQualifiedName(finalizer) ? [] : [`${path} must have ${keyForm}`]
}

function ownerFaults(owners: readonly Json[]): readonly string[] {
  const faults = owners.flatMap((owner, index) => {
    const path = `metadata.ownerReferences[${index}]`
    if (!isMap(owner)) return [`${path} must be a map`]
    const missing = ['apiVersion', 'kind', 'name', 'uid'].filter(
      (name) => typeof owner[name] !== 'string' || owner[name] === '',
    )
    const odd = ['controller', 'blockOwnerDeletion'].filter(
      (name) =>
        owner[name] !== undefined && owner[name] !== null && typeof owner[name] !== 'boolean',
    )
    return [
      ...missing.map((name) => `${path}.${name} must be a text, and not empty`),
      ...odd.map((name) => `${path}.${name} must be true or false`),
    ]
  })
  const controllers = owners.filter((owner) => isMap(owner) && owner['controller'] === true)
  return controllers.length > 1
    ? [...faults, 'metadata.ownerReferences: only one owner may be the controller']
    : faults
}
