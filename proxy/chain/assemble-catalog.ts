// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainEntry } from './chain-entry.ts'
import { compileChain, failureTablesOf } from './compile/compile-chain.ts'
import { compileFailures } from './failures/compile-failures.ts'
import type { FailureFile } from './failures/schema.ts'
import type { FailureTable } from './failure-table.ts'
import { complainInto } from './native/validate.ts'
import { resolveNatives } from './native/resolve-natives.ts'
import { resolveCatalog } from './public-catalog/resolve-catalog.ts'
import type { SourceDocuments } from './read-documents.ts'
import { fileProblem } from './spec-error.ts'
import type { SpecProblem } from './spec-error.ts'
import type { Chain, ChainCatalog } from './types.ts'

/** Puts the sources over one another; what does not fit goes to `problems`. */
export function assembleCatalog(
  sources: readonly SourceDocuments[],
  problems: SpecProblem[],
): ChainCatalog {
  const entries = new Map<string, ChainEntry>()
  for (const [at, source] of sources.entries()) {
    refuseDoubles(source, problems)
    const upToHere = sources.slice(0, at + 1)
    for (const entry of resolveCatalog(upToHere, source, problems))
      entries.set(entry.id.toLowerCase(), entry)
    for (const entry of resolveNatives(source, entries, problems))
      entries.set(entry.id.toLowerCase(), entry)
  }
  refuseUnknownTables(sources, problems)
  // The sources' own rows come before the bundled ones.
  const failures = failureTables(sources.flatMap((source) => source.failures).toReversed())
  return chainCatalog(entries, failures)
}

function refuseDoubles(source: SourceDocuments, problems: SpecProblem[]): void {
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

function refuseUnknownTables(sources: readonly SourceDocuments[], problems: SpecProblem[]): void {
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

function failureTables(files: readonly FailureFile[]): (names: readonly string[]) => FailureTable {
  const compiled = new Map<string, FailureTable>()
  return (names) => {
    const order = [...new Set([...names, 'common'])]
    const key = order.join()
    const known = compiled.get(key)
    if (known !== undefined) return known
    const table = compileFailures(
      order.flatMap((name) => files.filter((file) => file.failures === name)),
    )
    compiled.set(key, table)
    return table
  }
}

function chainCatalog(
  entries: ReadonlyMap<string, ChainEntry>,
  failures: (names: readonly string[]) => FailureTable,
): ChainCatalog {
  const byAlias = new Map<string, ChainEntry>()
  for (const entry of entries.values())
    for (const alias of entry.aliases) byAlias.set(alias.toLowerCase(), entry)
  const chains = new Map<ChainEntry, Chain>()
  return {
    ids: [...entries.values()].map((entry) => entry.id),
    find(chainId) {
      const wanted = chainId.toLowerCase()
      const entry = entries.get(wanted) ?? byAlias.get(wanted)
      if (entry === undefined) return null
      const known = chains.get(entry)
      if (known !== undefined) return known
      const spec = entry.resolve()
      const chain = compileChain(spec, failures(failureTablesOf(spec)))
      chains.set(entry, chain)
      return chain
    },
  }
}
