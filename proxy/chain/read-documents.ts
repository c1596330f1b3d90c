// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from '../config/problem.ts'
import { type Complain, checkDocument, fileProblem, parseSpecDocument } from './document.ts'
import { failureFileSchema, type FailureFile } from './failures/schema.ts'
import { nativeSchema, type NativeSpec } from './native/schema.ts'
import { catalogSpecsSchema, type CatalogSpec } from './public-catalog/schema.ts'
import type { SourceFiles } from './sources.ts'

/** A spec and its file. */
interface SourcedSpec<Spec> {
  readonly id: string
  readonly spec: Spec
  readonly file: string
  /** Takes paths relative to the spec. */
  readonly complain: Complain
}

/** Documents of one source that match their schema. */
export interface SourceDocuments {
  readonly natives: readonly SourcedSpec<NativeSpec>[]
  readonly catalog: readonly SourcedSpec<CatalogSpec>[]
  readonly failures: readonly FailureFile[]
}

const nativeMarks = ['id', 'interfaces', 'block-time', 'allowed-lag', 'finality']

/**
 * Detects the format of each file and validates it.
 * @param problems receives all complaints, including later ones
 */
export function readDocuments(source: SourceFiles, problems: Problem[]): SourceDocuments {
  const before = problems.push(...source.problems) - source.problems.length
  const natives: SourcedSpec<NativeSpec>[] = []
  const catalog: SourcedSpec<CatalogSpec>[] = []
  const failures: FailureFile[] = []
  for (const { file, text } of source.files) {
    const document = parseSpecDocument(file, text, problems)
    if ('message' in document) {
      if (source.kind !== 'archive' || looksLikeSpec.test(text)) problems.push(document)
      continue
    }
    const { value: root, complain } = document
    if (isCatalogFile(root, source.kind)) {
      const specs = checkDocument(document, catalogSpecsSchema)?.proposal.specs ?? []
      for (const [index, spec] of specs.entries()) {
        const within: Complain = (path, ...text) =>
          complain(['proposal', 'specs', index, ...path], ...text)
        catalog.push({ id: spec.index, spec, file, complain: within })
      }
    } else if (hasKey(root, 'failures') && !nativeMarks.some((mark) => hasKey(root, mark))) {
      const value = checkDocument(document, failureFileSchema)
      if (value !== null) failures.push(value)
    } else if (source.kind === 'file' || nativeMarks.some((mark) => hasKey(root, mark))) {
      const isMap = typeof root === 'object' && !Array.isArray(root)
      if (root === null) problems.push(fileProblem(file, 'the file is empty.'))
      else if (!isMap) complain([], 'must be a map with `id` and `interfaces`.')
      const spec = root === null || !isMap ? null : checkDocument(document, nativeSchema)
      if (spec !== null) natives.push({ id: spec.id, spec, file, complain })
    }
  }
  const read = natives.length + catalog.length + failures.length
  if (read === 0 && problems.length === before)
    problems.push(
      fileProblem(
        source.files[0]?.file ?? 'specs',
        'there is no chain spec here.',
        'A spec is a YAML file with `id` and `interfaces`, or a JSON file with `proposal.specs`.',
      ),
    )
  return { natives, catalog, failures }
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}

/** Proposals without specs have the same shape. */
function isCatalogFile(root: unknown, kind: SourceFiles['kind']): boolean {
  if (!hasKey(root, 'proposal')) return false
  return kind === 'file' || hasKey((root as { proposal: unknown }).proposal, 'specs')
}

/** Whether an unparsable file of an archive was meant to be a spec. */
const looksLikeSpec = /^(id|failures|interfaces):|^\s*\{?\s*"proposal"\s*:/m
