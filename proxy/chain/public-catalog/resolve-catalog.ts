// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainEntry, SourceDocuments } from '../read-documents.ts'
import { nearest } from '../../config/nearest.ts'
import { complainInto } from '../document.ts'
import type { SpecProblem } from '../spec-error.ts'
import { convertSpec, neutralIds } from './convert-spec.ts'
import { expandCollections } from './inherit.ts'
import type { Collections } from './inherit.ts'
import type { CatalogSpec } from './schema.ts'

type Placed = SourceDocuments['catalog'][number]

/**
 * The chains that the last of these sources has in the public catalog's format. Imports are looked
 * up among the catalog specs of all of them, later ones first. Specs that are switched off there,
 * being made to be imported, are chains here like the others.
 */
export function resolveCatalog(
  sources: readonly SourceDocuments[],
  source: SourceDocuments,
  problems: SpecProblem[],
): ChainEntry[] {
  const specs = new Map<string, Placed>()
  for (const each of sources)
    for (const placed of each.catalog) specs.set(placed.spec.index.toLowerCase(), placed)
  for (const placed of source.catalog) checkImports(placed, specs, problems)

  const expanded = new Map<string, Collections>()
  const expand = (spec: CatalogSpec): Collections => {
    const known = expanded.get(spec.index)
    if (known !== undefined) return known
    const imported = (spec.imports ?? []).flatMap((id) => {
      const placed = specs.get(id.toLowerCase())
      return placed === undefined ? [] : [expand(placed.spec)]
    })
    const collections = expandCollections(spec, imported)
    expanded.set(spec.index, collections)
    return collections
  }

  return source.catalog.map(({ spec }) => ({
    id: spec.index,
    aliases: neutralIds.get(spec.index) ?? [],
    resolve: () => convertSpec(spec, expand(spec)),
  }))
}

function checkImports(
  { spec, document, index }: Placed,
  specs: ReadonlyMap<string, Placed>,
  problems: SpecProblem[],
): void {
  const place = ['proposal', 'specs', index, 'imports']
  const complain = complainInto(problems, document)
  for (const id of spec.imports ?? []) {
    if (!specs.has(id.toLowerCase())) {
      const near = nearest(
        id,
        [...specs.values()].map((each) => each.spec.index),
      )
      complain(
        place,
        `\`${spec.index}\` imports \`${id}\`, which no source has.`,
        near === null ? `Add the spec of \`${id}\` to the sources.` : `Did you mean \`${near}\`?`,
      )
    }
    const loop = pathBack(id, spec.index, specs, [])
    if (loop !== null)
      complain(place, `\`${spec.index}\` imports itself: ${[spec.index, ...loop].join(' -> ')}.`)
  }
}

/** The way of imports from one spec to another; null when there is none. */
function pathBack(
  from: string,
  to: string,
  specs: ReadonlyMap<string, Placed>,
  through: readonly string[],
): string[] | null {
  if (from.toLowerCase() === to.toLowerCase()) return [from]
  if (through.includes(from)) return null
  for (const next of specs.get(from.toLowerCase())?.spec.imports ?? []) {
    const rest = pathBack(next, to, specs, [...through, from])
    if (rest !== null) return [from, ...rest]
  }
  return null
}
