// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from '../config/problem.ts'
import { nearest } from '../config/nearest.ts'
import { complainInto } from './document.ts'
import { extendSpec } from './native/extend.ts'
import type { NativeSpec } from './native/schema.ts'
import { validateSpec } from './native/validate.ts'
import { convertSpec, neutralIds } from './public-catalog/convert-spec.ts'
import { type Collections, expandCollections } from './public-catalog/inherit.ts'
import type { CatalogSpec } from './public-catalog/schema.ts'
import type { SourceDocuments } from './read-documents.ts'

/** A chain of a source, whose inheritance is resolved when it is asked for. */
export interface ChainEntry {
  readonly id: string
  readonly aliases: readonly string[]
  /** Call it only when nothing was wrong with any source. */
  readonly resolve: () => NativeSpec
}

/** What specs build on: those that they extend or import, all ids in lower case. */
interface Parents {
  readonly known: readonly string[]
  readonly of: (id: string) => readonly string[]
}

/**
 * The native chains of a source, each laid over the one that it extends: another of this source, or
 * one of an earlier source whatever its format.
 */
export function resolveNatives(
  source: SourceDocuments,
  earlier: ReadonlyMap<string, ChainEntry>,
  problems: Problem[],
): ChainEntry[] {
  const natives = new Map(source.natives.map((each) => [each.spec.id.toLowerCase(), each]))
  const built = new Map<string, NativeSpec | null>()
  const baseIdOf = (id: string) => natives.get(id)?.spec.extends?.toLowerCase()
  const parents: Parents = {
    known: [...natives.keys(), ...earlier.keys()],
    of(id) {
      const base = baseIdOf(id)
      // A chain may extend the one of the same id in an earlier source.
      return base === undefined || (base === id && earlier.has(id)) ? [] : [base]
    },
  }
  const make = (id: string): NativeSpec | null => {
    const native = natives.get(id)
    if (native === undefined) return null
    const { spec, document } = native
    const complain = complainInto(problems, document)
    if (complainOfParents(id, parents, (...text) => complain(['extends'], ...text))) return null
    const baseId = baseIdOf(id)
    const isHere = baseId !== undefined && baseId !== id && natives.has(baseId)
    const earlierBase = problems.length > 0 ? undefined : earlier.get(baseId ?? '')
    const base = isHere ? build(baseId) : (earlierBase?.resolve() ?? null)
    if (baseId !== undefined && base === null) return null
    const result = base === null ? spec : extendSpec(base, spec)
    validateSpec(spec, base, result, complain)
    return result
  }
  const build = (id: string) => built.getOrInsertComputed(id, make)
  return [...natives.keys()].flatMap((id) => {
    const spec = build(id)
    return spec === null ? [] : [{ id: spec.id, aliases: spec.aliases ?? [], resolve: () => spec }]
  })
}

/**
 * The chains that the last of these sources has in the public catalog's format. Imports are looked
 * up among the catalog specs of all of them, later ones first. Specs that are switched off there,
 * being made to be imported, are chains here like the others.
 */
export function resolveCatalog(
  sources: readonly SourceDocuments[],
  source: SourceDocuments,
  problems: Problem[],
): ChainEntry[] {
  const placed = sources.flatMap(({ catalog }) => catalog)
  const specs = new Map(placed.map(({ spec }) => [spec.index.toLowerCase(), spec]))
  const parents: Parents = {
    known: [...specs.keys()],
    of: (id) => specs.get(id)?.imports?.map((each) => each.toLowerCase()) ?? [],
  }
  for (const { spec, document, index } of source.catalog) {
    const path = ['proposal', 'specs', index, 'imports']
    const complain = complainInto(problems, document)
    complainOfParents(spec.index.toLowerCase(), parents, (...text) => complain(path, ...text))
  }
  const expand = (spec: CatalogSpec): Collections =>
    expandCollections(
      spec,
      parents
        .of(spec.index.toLowerCase())
        .flatMap((id) => specs.get(id) ?? [])
        .map(expand),
    )
  return source.catalog.map(({ spec }) => ({
    id: spec.index,
    aliases: neutralIds.get(spec.index) ?? [],
    resolve: () => convertSpec(spec, expand(spec)),
  }))
}

/** Says what no source has of that which a chain builds on, and where it goes in a circle. */
function complainOfParents(
  id: string,
  { known, of }: Parents,
  complain: (message: string, hint?: string) => void,
): boolean {
  const missing = of(id).filter((each) => !known.includes(each))
  for (const each of missing) {
    const near = nearest(each, known)?.toUpperCase()
    const hint = near === undefined ? 'Add its spec to the sources.' : `Did you mean \`${near}\`?`
    complain(`there is no chain \`${each.toUpperCase()}\`.`, hint)
  }
  const circle = wayBack([id], of)
  if (circle !== null) complain(`goes in a circle: ${circle.join(' -> ').toUpperCase()}.`)
  return missing.length > 0 || circle !== null
}

/** The way from the last of these to the first; null when there is none. */
function wayBack(way: readonly string[], of: Parents['of']): readonly string[] | null {
  for (const next of of(way.at(-1) ?? '')) {
    if (next === way[0]) return [...way, next]
    const found = way.includes(next) ? null : wayBack([...way, next], of)
    if (found !== null) return found
  }
  return null
}
