// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Problem } from '../config/problem.ts'
import { checkDocument, parseSpecDocument, type SpecDocument, fileProblem } from './document.ts'
import { failureFileSchema, type FailureFile } from './failures/schema.ts'
import { nativeSchema, type NativeSpec } from './native/schema.ts'
import { catalogSpecsSchema, type CatalogSpec } from './public-catalog/schema.ts'
import type { SourceFiles, SpecFile } from './sources/local.ts'

/** What one source says, checked for form. */
export interface SourceDocuments {
  readonly natives: readonly { readonly spec: NativeSpec; readonly document: SpecDocument }[]
  readonly catalog: readonly {
    readonly spec: CatalogSpec
    readonly document: SpecDocument
    /** Place among the specs of the document. */
    readonly index: number
  }[]
  readonly failures: readonly FailureFile[]
  readonly problems: readonly Problem[]
}

const nativeMarks = ['id', 'interfaces', 'block-time', 'allowed-lag', 'finality']

/** Tells the formats apart and checks each file by its own. */
export function readDocuments(source: SourceFiles): SourceDocuments {
  const problems = [...source.problems]
  const natives: { spec: NativeSpec; document: SpecDocument }[] = []
  const catalog: { spec: CatalogSpec; document: SpecDocument; index: number }[] = []
  const failures: FailureFile[] = []
  for (const file of source.files) {
    const document = parseSpecDocument(file.file, file.text)
    if ('message' in document) {
      if (source.kind !== 'archive' || looksLikeSpec(file)) problems.push(document)
      continue
    }
    const root = document.value
    if (isCatalogFile(root, source.kind)) {
      const value = checkDocument(document, catalogSpecsSchema, problems)
      for (const [index, spec] of value?.proposal.specs.entries() ?? [])
        catalog.push({ spec, document, index })
    } else if (hasKey(root, 'failures') && !nativeMarks.some((mark) => hasKey(root, mark))) {
      const value = checkDocument(document, failureFileSchema, problems)
      if (value !== null) failures.push(value)
    } else if (source.kind === 'file' || nativeMarks.some((mark) => hasKey(root, mark))) {
      if (root === null) problems.push(fileProblem(file.file, 'the file is empty.'))
      const spec = root === null ? null : checkDocument(document, nativeSchema, problems)
      if (spec !== null) natives.push({ spec, document })
    }
  }
  const read = natives.length + catalog.length + failures.length
  const [first] = source.files
  if (read === 0 && problems.length === 0)
    problems.push(
      fileProblem(
        first?.file ?? 'specs',
        'there is no chain spec here.',
        'A spec is a YAML file with `id` and `interfaces`, or a JSON file with `proposal.specs`.',
      ),
    )
  return { natives, catalog, failures, problems }
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}

/** Proposals of other things than specs are in the same form. */
function isCatalogFile(root: unknown, kind: SourceFiles['kind']): boolean {
  if (!hasKey(root, 'proposal')) return false
  return kind === 'file' || hasKey((root as { proposal: unknown }).proposal, 'specs')
}

/** Whether a broken file of an archive was meant to be a spec. */
function looksLikeSpec(file: SpecFile): boolean {
  return /^(id|failures|interfaces):|^\s*\{?\s*"proposal"\s*:/m.test(file.text)
}
