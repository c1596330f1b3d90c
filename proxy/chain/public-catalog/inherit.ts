// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type {
  CatalogCollection,
  CatalogCollectionData,
  CatalogSpec,
  CatalogVerification,
} from './schema.ts'

/** Collections by what tells them apart. */
export type Collections = ReadonlyMap<string, CatalogCollection>

function collectionKey(data: CatalogCollectionData): string {
  return [data.api_interface, data.internal_path, data.type, data.add_on].join('|')
}

/**
 * The collections of a spec, with those of the specs that it imports below its own, and then with
 * what its collections inherit from one another. An entry of its own stands before an inherited one
 * of the same name, also to switch it off. A collection that is switched off is kept: others may
 * inherit from it.
 */
export function expandCollections(
  spec: CatalogSpec,
  imported: readonly Collections[],
): Collections {
  const own = new Map<string, CatalogCollection>()
  for (const collection of spec.api_collections) {
    const key = collectionKey(collection.collection_data)
    const before = own.get(key)
    own.set(key, before === undefined ? collection : overlay(collection, before))
  }
  const merged = new Map(own)
  for (const parent of imported)
    for (const [key, collection] of parent) {
      const before = merged.get(key)
      merged.set(key, before === undefined ? collection : overlay(before, collection))
    }
  const expanded = new Map<string, CatalogCollection>()
  for (const key of merged.keys()) expandWithin(key, merged, own, expanded, [])
  return expanded
}

function expandWithin(
  key: string,
  merged: ReadonlyMap<string, CatalogCollection>,
  own: ReadonlyMap<string, CatalogCollection>,
  expanded: Map<string, CatalogCollection>,
  through: readonly string[],
): CatalogCollection | null {
  const done = expanded.get(key)
  if (done !== undefined) return done
  const collection = merged.get(key)
  if (collection === undefined || through.includes(key)) return null
  let result = collection
  // Those that came by import have their inheritance in them already.
  for (const data of own.get(key)?.inheritance_apis ?? []) {
    const parent = expandWithin(collectionKey(data), merged, own, expanded, [...through, key])
    if (parent !== null) result = overlay(result, parent)
  }
  expanded.set(key, result)
  return result
}

/** `upper` with what only `lower` has. */
function overlay(upper: CatalogCollection, lower: CatalogCollection): CatalogCollection {
  return {
    ...upper,
    apis: union(upper.apis, lower.apis, (api) => api.name),
    headers: union(upper.headers, lower.headers, (header) => header.name.toLowerCase()),
    parse_directives: union(
      upper.parse_directives,
      lower.parse_directives,
      (each) => `${each.function_tag} ${isSubscription(each.function_tag) ? each.api_name : ''}`,
    ),
    extensions: union(upper.extensions, lower.extensions, (extension) => extension.name),
    verifications: unionOfVerifications(upper.verifications, lower.verifications),
  }
}

function isSubscription(tag: string): boolean {
  return tag === 'SUBSCRIBE' || tag === 'UNSUBSCRIBE'
}

function union<Item>(upper: readonly Item[], lower: readonly Item[], key: (item: Item) => string) {
  const taken = new Set(upper.map(key))
  return [...upper, ...lower.filter((item) => !taken.has(key(item)))]
}

/** A verification may give only its values and leave the question to the one below it. */
function unionOfVerifications(
  upper: readonly CatalogVerification[],
  lower: readonly CatalogVerification[],
): CatalogVerification[] {
  const below = new Map(lower.map((each) => [each.name, each]))
  const completed = upper.map((each) => {
    const base = below.get(each.name)
    return {
      name: each.name,
      parse_directive: each.parse_directive ?? base?.parse_directive,
      values: each.values?.length ? each.values : base?.values,
    }
  })
  return union(completed, lower, (each) => each.name)
}
