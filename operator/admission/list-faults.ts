// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import { type Child, childrenOf } from './children.ts'
import { type Fault, isList, isMap, type Json } from './fault.ts'

/** Items that are twice in a list whose items must differ, by themselves or by their keys. */
export function listFaults(at: Child): readonly Fault[] {
  return [...ownFaults(at), ...childrenOf(at).flatMap(listFaults)]
}

function ownFaults({ path, schema, value }: Child): readonly Fault[] {
  const kind = schema['x-kubernetes-list-type']
  if (!isList(value) || (kind !== 'map' && kind !== 'set')) return []
  const fault = (index: number, message: string): Fault => ({
    path: `${path}[${index}]`,
    message,
    blocks: false,
  })
  const odd = kind === 'map' ? value.findIndex((item) => !isMap(item)) : -1
  if (odd !== -1) return [fault(odd, 'must be an object for an array of list-type map')]
  const identities = value.map((item) => identityOf(item, schema['x-kubernetes-list-map-keys']))
  return identities.flatMap((identity, index) =>
    // Each is told of once, at its second place.
    identities.slice(0, index).filter((other) => isDeepStrictEqual(other, identity)).length === 1
      ? [fault(index, 'Duplicate value')]
      : [],
  )
}

function identityOf(item: Json, keys: readonly string[] | undefined): Json {
  if (keys === undefined || !isMap(item)) return item
  return Object.fromEntries(keys.flatMap((key) => (key in item ? [[key, item[key] ?? null]] : [])))
}
