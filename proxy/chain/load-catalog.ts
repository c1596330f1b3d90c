// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nearest } from '../config/nearest.ts'
import type { Problem } from '../config/problem.ts'
import { apiInterfaces } from '../config/types.ts'
import { anyEvmBase, anyEvmSpec, evmIdIn, evmIdOf, nameKey } from './any-evm.ts'
import { compileChain } from './compile/compile-chain.ts'
import { bundledCatalog } from './bundled-catalog.ts'
import { SpecError, fileProblem } from './document.ts'
import type { FailureTable } from './failure-table.ts'
import { compileFailures } from './failures/compile-failures.ts'
import type { FailureFile } from './failures/schema.ts'
import { extendSpec } from './native/extend.ts'
import { chainProbeNames, type NativeSpec } from './native/schema.ts'
import { validateSpec } from './native/validate.ts'
import { type Collections, convertSpec, expandCollections } from './public-catalog/convert-spec.ts'
import type { CatalogSpec } from './public-catalog/schema.ts'
import { readDocuments, type SourceDocuments } from './read-documents.ts'
import { readSource, type SourceFiles, type SpecFile } from './sources.ts'
import type { Chain, ChainCatalog } from './types.ts'

/** The bundle contains the specs as JSON, which parses faster. */
const beside = ['../specs', '../../specs'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const bundledSpecs = beside.find((path) => existsSync(path)) ?? ''

/** A spec with resolved inheritance, and its source. */
interface LayeredSpec {
  readonly spec: NativeSpec
  /** Index of its source; 0 for the bundled specs. */
  readonly layer: number
  readonly file: string
}

/** The bundled chain specs, as a base for other specs. */
export interface BundledSpecs {
  readonly catalog: ChainCatalog
  /** @throws SpecError with all problems of all sources */
  readonly over: (sources: readonly SourceFiles[]) => ChainCatalog
}

let bundled: Promise<BundledSpecs> | undefined

/** Reads the bundled specs once per process, for every catalog that builds on them. */
export function loadBundledSpecs(): Promise<BundledSpecs> {
  return (bundled ??= readBundledSpecs())
}

async function readBundledSpecs(): Promise<BundledSpecs> {
  const source = await readSource(bundledSpecs)
  if (source.problems.length > 0) throw new SpecError(source.problems)
  const documents = new Map<SpecFile, SourceDocuments>()
  const problems: Problem[] = []
  const read = (file: SpecFile) => readDocuments({ ...source, files: [file] }, problems)
  const catalog = bundledCatalog(source.files, (files) => {
    const parts = files.map((file) => documents.getOrInsertComputed(file, read))
    return layered([joined(parts)], problems)
  })
  let whole: BundledSpecs | undefined
  return { catalog, over: (sources) => (whole ??= specsOver(source)).over(sources) }
}

function joined(parts: readonly SourceDocuments[]): SourceDocuments {
  return {
    natives: parts.flatMap(({ natives }) => natives),
    catalog: parts.flatMap(({ catalog }) => catalog),
    failures: parts.flatMap(({ failures }) => failures),
  }
}

/** The specs of a source, as a base for other specs. @throws SpecError */
export function specsOver(bundled: SourceFiles): BundledSpecs {
  const problems: Problem[] = []
  const read = readDocuments(bundled, problems)
  const over: BundledSpecs['over'] = (sources) =>
    layered([read, ...sources.map((source) => readDocuments(source, problems))], problems)
  return { catalog: over([]), over }
}

/**
 * Loads the bundled chain specs, then the sources on top. A source is a file, a directory tree, or
 * an http(s) URL of a `.tar.gz` archive. A later spec replaces an earlier one with the same id, and
 * its names win. Failure rows of later sources come first. A chain is compiled on first use, and
 * without sources also parsed then.
 * @throws SpecError with all problems of all sources
 */
export async function loadCatalog(sources: readonly string[]): Promise<ChainCatalog> {
  const [base, ...files] = await Promise.all([
    loadBundledSpecs(),
    ...sources.map((source) => readSource(source)),
  ])
  return files.length === 0 ? base.catalog : base.over(files)
}

function layered(read: readonly SourceDocuments[], problems: Problem[]): ChainCatalog {
  const specs = new Map<string, LayeredSpec>()
  for (const [layer, source] of read.entries()) {
    const fileOf = refuseDoubles(source, problems)
    const put = (spec: NativeSpec) => {
      const id = spec.id.toLowerCase()
      // A map keeps the position of an existing key, which would break the layer order.
      specs.delete(id)
      specs.set(id, { spec, layer, file: fileOf.get(id) ?? '' })
    }
    for (const spec of resolveCatalog(read.slice(0, layer + 1), source, problems))
      put(withFamilies(spec, read[0]))
    resolveNatives(source, specs, problems).forEach(put)
  }
  refuseUnknownTables(read)
  // The parsed documents keep reporting to this list.
  const found = problems.splice(0)
  if (found.length > 0) throw new SpecError(found)
  // Rows of the sources precede the bundled rows.
  return chainCatalog(specs, read.flatMap((source) => source.failures).toReversed())
}

/** Lists of an interface that the catalog's format lacks. */
const listsOfFamily = ['operator-only', 'read-names', 'implied-version'] as const

/**
 * Adds what the catalog's format lacks, from the first chain of each family. If a bundled chain has
 * the id as an alias, its own id is one here.
 */
function withFamilies(spec: NativeSpec, bundled: SourceDocuments | undefined): NativeSpec {
  const same = bundled?.natives.filter((each) => each.spec.aliases?.includes(spec.id)) ?? []
  spec.aliases = same.map(({ id }) => id)
  for (const family of spec.failures ?? []) {
    const kin = bundled?.natives.find((each) => each.spec.family === family)?.spec
    for (const name of apiInterfaces) {
      const [own, theirs] = [spec.interfaces?.[name], kin?.interfaces?.[name]]
      if (!own || !theirs) continue
      for (const key of listsOfFamily) Object.assign(own, { [key]: own[key] ?? theirs[key] })
      const path = own['latest-block']?.path
      for (const key of chainProbeNames)
        if (theirs[key]) Object.assign(own, { [key]: own[key] ?? { path, ...theirs[key] } })
    }
  }
  return spec
}

/** @returns the file of each chain */
function refuseDoubles(source: SourceDocuments, problems: Problem[]): ReadonlyMap<string, string> {
  const fileOf = new Map<string, string>()
  const hint = 'One source has a chain once.'
  for (const { id, file } of [...source.natives, ...source.catalog]) {
    const other = fileOf.get(id.toLowerCase())
    if (other !== undefined)
      problems.push(fileProblem(file, `chain \`${id}\` is also in ${other}.`, hint))
    fileOf.set(id.toLowerCase(), file)
  }
  return fileOf
}

function refuseUnknownTables(sources: readonly SourceDocuments[]): void {
  const known = new Set(sources.flatMap((source) => source.failures.map((file) => file.failures)))
  for (const { spec, complain } of sources.flatMap((source) => source.natives))
    for (const [index, name] of (spec.failures ?? []).entries())
      if (!known.has(name))
        complain(
          ['failures', index],
          `there is no failure table \`${name}\`.`,
          `Known tables: ${[...known].join(', ')}.`,
        )
}

/** The specs that a spec extends or imports, by lower-case id. */
interface Parents {
  readonly known: readonly string[]
  readonly of: (id: string) => readonly string[]
}

/**
 * Native chains of a source, each merged over its base. The base is in the same source, or in an
 * earlier one of any format.
 */
function resolveNatives(
  source: SourceDocuments,
  earlier: ReadonlyMap<string, LayeredSpec>,
  problems: Problem[],
): NativeSpec[] {
  const natives = new Map(source.natives.map((each) => [each.spec.id.toLowerCase(), each]))
  const built = new Map<string, NativeSpec | null>()
  const baseIdOf = (id: string) => natives.get(id)?.spec.extends?.toLowerCase()
  const parents: Parents = {
    known: [...natives.keys(), ...earlier.keys()],
    of(id) {
      const base = baseIdOf(id)
      // A chain may extend a chain with the same id from an earlier source.
      return base === undefined || (base === id && earlier.has(id)) ? [] : [base]
    },
  }
  const make = (id: string): NativeSpec | null => {
    const native = natives.get(id)
    if (native === undefined) return null
    const { spec, complain } = native
    if (complainOfParents(id, parents, (...text) => complain(['extends'], ...text))) return null
    const baseId = baseIdOf(id)
    const isHere = baseId !== undefined && baseId !== id && natives.has(baseId)
    const earlierBase = problems.length > 0 ? undefined : earlier.get(baseId ?? '')?.spec
    const base = isHere ? build(baseId) : (earlierBase ?? null)
    if (baseId !== undefined && base === null) return null
    const result = base === null ? spec : extendSpec(base, spec)
    validateSpec(spec, base, result, complain)
    return result
  }
  const build = (id: string) => built.getOrInsertComputed(id, make)
  return [...natives.keys()].map(build).filter((spec) => spec !== null)
}

/**
 * Chains of one source that are in the public catalog's format. Imports resolve among the catalog
 * specs of all sources, later ones first. A spec that the catalog disables, because it only serves
 * imports, is an ordinary chain here.
 */
function resolveCatalog(
  sources: readonly SourceDocuments[],
  source: SourceDocuments,
  problems: Problem[],
): NativeSpec[] {
  const all = sources.flatMap(({ catalog }) => catalog)
  const specs = new Map(all.map(({ spec }) => [spec.index.toLowerCase(), spec]))
  const parents: Parents = {
    known: [...specs.keys()],
    of: (id) => specs.get(id)?.imports?.map((each) => each.toLowerCase()) ?? [],
  }
  for (const { id, complain } of source.catalog)
    complainOfParents(id.toLowerCase(), parents, (...text) => complain(['imports'], ...text))
  const expand = (spec: CatalogSpec): Collections => {
    // Any problem rejects all chains, and imports may be circular.
    const ids = problems.length > 0 ? [] : parents.of(spec.index.toLowerCase())
    return expandCollections(spec, ids.flatMap((id) => specs.get(id) ?? []).map(expand))
  }
  return source.catalog.map(({ spec }) => convertSpec(spec, expand(spec)))
}

/** Reports missing parents of a chain, and cycles. @returns whether there are any */
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
  const cycle = cycleOf([id], of)
  if (cycle !== null) complain(`forms a cycle: ${cycle.join(' -> ').toUpperCase()}.`)
  return missing.length > 0 || cycle !== null
}

/** Follows parents until the path returns to its start; null if it never does. */
function cycleOf(path: readonly string[], of: Parents['of']): readonly string[] | null {
  for (const next of of(path.at(-1) ?? '')) {
    if (next === path[0]) return [...path, next]
    const found = path.includes(next) ? null : cycleOf([...path, next], of)
    if (found !== null) return found
  }
  return null
}

function chainCatalog(
  specs: ReadonlyMap<string, LayeredSpec>,
  files: readonly FailureFile[],
): ChainCatalog {
  const named = new Map<string, LayeredSpec>()
  for (const each of specs.values()) named.set(nameKey(each.spec.name ?? ''), each)
  for (const layer of Map.groupBy(specs.values(), (each) => each.layer).values()) {
    for (const each of layer)
      for (const alias of each.spec.aliases ?? []) named.set(alias.toLowerCase(), each)
    for (const each of layer) named.set(each.spec.id.toLowerCase(), each)
  }
  const tables = new Map<string, FailureTable>()
  const tableOf = (names: readonly string[]) =>
    tables.getOrInsertComputed(names.join(), () =>
      compileFailures(names.flatMap((name) => files.filter((file) => file.failures === name))),
    )
  const chains = new Map<LayeredSpec, Chain>()
  const compile = ({ spec, layer, file }: LayeredSpec): Chain => {
    const names = spec.failures ?? [spec.family ?? 'other']
    const failures = tableOf([...new Set([...names, 'common'])])
    return { ...compileChain(spec, failures), ownFile: layer === 0 ? null : file }
  }
  const reached = [...specs].filter(([id, each]) => named.get(id) === each)
  const own = reached.map(([, { spec }]) => spec)
  /** An EVM chain by its chain id, with the spec of any EVM chain if it has none. */
  const ofEvm = (evmId: string): LayeredSpec | null => {
    const known = reached.find(([, { spec }]) => evmIdIn(spec) === evmId)
    const base = named.get(anyEvmBase)
    return known?.[1] ?? (base ? { ...base, spec: anyEvmSpec(base.spec, evmId) } : null)
  }
  return {
    ids: own.map(({ id }) => id),
    names: own.map(({ id, aliases = [], name = id }) => ({ id, aliases, name })),
    find(chainId) {
      const evmId = evmIdOf(chainId)
      let found = named.get(nameKey(chainId))
      if (!found && evmId) {
        found = ofEvm(evmId) ?? undefined
        if (found) named.set(nameKey(chainId), found)
      }
      return found ? chains.getOrInsertComputed(found, compile) : null
    },
  }
}
