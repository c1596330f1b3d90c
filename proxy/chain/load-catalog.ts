// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { assembleCatalog } from './assemble-catalog.ts'
import { readDocuments } from './read-documents.ts'
import { readLocal } from './sources/local.ts'
import { readArchive } from './sources/remote.ts'
import type { SourceFiles } from './sources/spec-file.ts'
import { SpecError } from './spec-error.ts'
import type { ChainCatalog } from './types.ts'

export interface LoadCatalogOptions {
  /** Directory of the bundled specs. */
  readonly bundledSpecs?: string
  /** Ends a download. */
  readonly signal?: AbortSignal
}

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
export async function loadCatalog(
  sources: readonly string[],
  options: LoadCatalogOptions = {},
): Promise<ChainCatalog> {
  const bundled = options.bundledSpecs ?? bundledSpecs
  const signal = options.signal ?? new AbortController().signal
  const [own, ...read] = await Promise.all([
    readLocal(sources.length === 0 ? bundled : `${bundled}/failures`),
    ...sources.map((source) => readSource(source, signal)),
  ])
  const all = [own, ...read].map(readDocuments)
  const problems = all.flatMap((source) => source.problems)
  const catalog = assembleCatalog(all, problems)
  if (problems.length > 0) throw new SpecError(problems)
  return catalog
}

function readSource(source: string, signal: AbortSignal): Promise<SourceFiles> {
  return /^https?:\/\//i.test(source) ? readArchive(source, signal) : readLocal(source)
}
