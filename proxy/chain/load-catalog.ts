// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Problem } from '../config/problem.ts'
import { readLocal } from './sources/local.ts'
import { readArchive } from './sources/remote.ts'
import { compileChain } from './compile/compile-chain.ts'
import { compileFailures } from './failures/compile-failures.ts'
import type { FailureFile } from './failures/schema.ts'
import type { FailureTable } from './failure-table.ts'
import { complainInto, SpecError, fileProblem } from './document.ts'
import { type ChainEntry, resolveCatalog, resolveNatives } from './resolve.ts'
import { readDocuments, type SourceDocuments } from './read-documents.ts'
import type { Chain, ChainCatalog } from './types.ts'

/** Beside the bundle they are JSON, which reads faster. */
const beside = ['../specs', '../../specs'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const bundledSpecs = beside.find((path) => existsSync(path)) ?? 'specs'

/**
 * Loads chain specs. A source is a file, a directory with those below it, or an http(s) URL of a
 * `.tar.gz` archive; of two specs of one id, that of the later source counts. No sources: the
 * bundled specs. The bundled failure tables always apply, behind those of the sources.
 * A chain is compiled when it is first asked for.
 * @throws SpecError with all problems of all sources
 */
export async function loadCatalog(sources: readonly string[]): Promise<ChainCatalog> {
  const files = await Promise.all([
    readLocal(sources.length === 0 ? bundledSpecs : `${bundledSpecs}/failures`),
    ...sources.map((source) =>
      /^https?:\/\//i.test(source) ? readArchive(source) : readLocal(source),
    ),
  ])
  const read = files.map(readDocuments)
  const problems = read.flatMap((source) => source.problems)
  const entries = new Map<string, ChainEntry>()
  for (const [at, source] of read.entries()) {
    refuseDoubles(source, problems)
    const upToHere = read.slice(0, at + 1)
    for (const entry of resolveCatalog(upToHere, source, problems))
      entries.set(entry.id.toLowerCase(), entry)
    for (const entry of resolveNatives(source, entries, problems))
      entries.set(entry.id.toLowerCase(), entry)
  }
  refuseUnknownTables(read, problems)
  if (problems.length > 0) throw new SpecError(problems)
  // The sources' own rows come before the bundled ones.
  return chainCatalog(entries, read.flatMap((source) => source.failures).toReversed())
}

function refuseDoubles(source: SourceDocuments, problems: Problem[]): void {
  const places = new Map<string, string>()
  const specs = [
    ...source.natives.map(({ spec, document }) => ({ id: spec.id, file: document.file })),
    ...source.catalog.map(({ spec, document }) => ({ id: spec.index, file: document.file })),
  ]
  for (const { id, file } of specs) {
    const other = places.get(id.toLowerCase())
    if (other !== undefined)
      problems.push(
        fileProblem(file, `chain \`${id}\` is also in ${other}.`, 'One source has a chain once.'),
      )
    places.set(id.toLowerCase(), file)
  }
}

function refuseUnknownTables(sources: readonly SourceDocuments[], problems: Problem[]): void {
  const known = new Set(sources.flatMap((source) => source.failures.map((file) => file.failures)))
  for (const { spec, document } of sources.flatMap((source) => source.natives))
    for (const [index, name] of (spec.failures ?? []).entries())
      if (!known.has(name))
        complainInto(problems, document)(
          ['failures', index],
          `there is no failure table \`${name}\`.`,
          `Known tables: ${[...known].join(', ')}.`,
        )
}

function chainCatalog(
  entries: ReadonlyMap<string, ChainEntry>,
  files: readonly FailureFile[],
): ChainCatalog {
  const byAlias = new Map<string, ChainEntry>()
  for (const entry of entries.values())
    for (const alias of entry.aliases) byAlias.set(alias.toLowerCase(), entry)
  const tables = new Map<string, FailureTable>()
  const tableOf = (names: readonly string[]) =>
    tables.getOrInsertComputed(names.join(), () =>
      compileFailures(names.flatMap((name) => files.filter((file) => file.failures === name))),
    )
  const chains = new Map<ChainEntry, Chain>()
  return {
    ids: [...entries.values()].map((entry) => entry.id),
    find(chainId) {
      const wanted = chainId.toLowerCase()
      const entry = entries.get(wanted) ?? byAlias.get(wanted)
      if (entry === undefined) return null
      return chains.getOrInsertComputed(entry, () => {
        const spec = entry.resolve()
        const names = spec.failures ?? [spec.family ?? 'other']
        return compileChain(spec, tableOf([...new Set([...names, 'common'])]))
      })
    },
  }
}
