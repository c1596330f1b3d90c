// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CatalogCollection, CatalogCollectionData, CatalogSpec } from './schema.ts'

/**
 * Collections by what tells them apart, each in layers: its own, then those of the specs that its spec
 * imports, then what it inherits from other collections.
 */
export type Collections = ReadonlyMap<string, readonly CatalogCollection[]>

function collectionKey(data: CatalogCollectionData): string {
  return [data.api_interface, data.internal_path, data.type, data.add_on].join('|')
}

/** The collections of a spec. One that is switched off is kept: others may inherit from it. */
export function expandCollections(
  spec: CatalogSpec,
  imported: readonly Collections[],
): Collections {
  const own = Map.groupBy(spec.api_collections, (each) => collectionKey(each.collection_data))
  const layersOf = (key: string, through: readonly string[]): readonly CatalogCollection[] => {
    if (through.includes(key)) return []
    const said = own.get(key) ?? []
    const below = imported.flatMap((collections) => collections.get(key) ?? [])
    // Those that came by import have their inheritance in them already.
    const inherited = said
      .flatMap((each) => each.inheritance_apis)
      .flatMap((data) => layersOf(collectionKey(data), [...through, key]))
    return [...new Set([...said, ...below, ...inherited])]
  }
  const keys = new Set([own, ...imported].flatMap((collections) => [...collections.keys()]))
  return new Map([...keys].map((key) => [key, layersOf(key, [])]))
}

/** Layers as one. Of entries of one name the first counts, also to switch it off. */
export function flatten(layers: readonly CatalogCollection[]): CatalogCollection[] {
  const verifications = Map.groupBy(
    layers.flatMap((layer) => layer.verifications),
    ({ name }) => name,
  )
  return layers.slice(0, 1).map((top) => ({
    ...top,
    apis: firsts(
      layers.flatMap(({ apis }) => apis),
      ({ name }) => name,
    ),
    headers: firsts(
      layers.flatMap(({ headers }) => headers),
      ({ name }) => name.toLowerCase(),
    ),
    parse_directives: firsts(
      layers.flatMap((layer) => layer.parse_directives),
      (directive) => directive.function_tag,
    ),
    extensions: firsts(
      layers.flatMap(({ extensions }) => extensions),
      ({ name }) => name,
    ),
    // One may give only its values and leave the question to the one below it.
    verifications: [...verifications].map(([name, said]) => ({
      name,
      parse_directive: said.find((each) => each.parse_directive)?.parse_directive,
      values: said.find((each) => each.values?.length)?.values,
    })),
  }))
}

function firsts<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  return [...Map.groupBy(items, nameOf).values()].flatMap((same) => same.slice(0, 1))
}
