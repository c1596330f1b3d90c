// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { SpecError } from '../../proxy/chain/document.ts'
import type { BundledSpecs } from '../../proxy/chain/load-catalog.ts'
import { readDocuments } from '../../proxy/chain/read-documents.ts'
import type { SourceFiles } from '../../proxy/chain/sources.ts'
import type { ChainCatalog } from '../../proxy/chain/types.ts'
import type { Problem } from '../../proxy/config/problem.ts'
import type { SpecSource } from '../api/rpc-router.ts'
import type { ValueCollector } from './value-collector.ts'
import type { ConfigRefusal } from './violations.ts'

/** Specs that the RpcRouter adds. The image has the bundled specs, so no config names them. */
export interface SpecsRead {
  /** The `use-static-spec` list of the config: paths in the pod, and URLs. */
  readonly section: readonly string[]
  readonly texts: readonly SpecText[]
  /** Whether pods read nothing else: none comes from a URL, and none is missing. */
  readonly areAll: boolean
}

/** Gathers the specs that a router adds to the bundled ones. */
export function readSpecSources(
  sources: readonly SpecSource[] = [],
  collector: ValueCollector,
): SpecsRead {
  const texts: SpecText[] = []
  let areAll = true
  const section = sources.flatMap((source, index) => {
    if (source.url !== undefined) {
      areAll = false
      return [source.url]
    }
    if (source.configMap === undefined) return []
    const { name, keys } = source.configMap
    const field = `spec.specSources[${index}].configMap`
    const found = collector.configMapTexts(field, name, keys)
    if (found.length === 0) areAll = false
    return found.map(([key, text]) => {
      // The collector has already reported a missing text.
      if (text === '') areAll = false
      else texts.push({ field, configMap: name, key, text })
      const words = ['', 'spec', String(index), name, key]
      const source = { field: `spec.specSources[${index}]`, words }
      return collector.copiedFile(source, text, isJsonKey(key) ? 'json' : 'yml')
    })
  })
  return { section, texts, areAll }
}

/** A user's chain spec, from a ConfigMap. */
interface SpecText {
  /** The ConfigMap, for messages: `spec.specSources[1].configMap`. */
  readonly field: string
  readonly configMap: string
  readonly key: string
  readonly text: string
}

/** A pod infers the format from the file extension. */
function isJsonKey(key: string): boolean {
  return key.endsWith('.json')
}

export interface ReadSpecs {
  readonly refusals: readonly ConfigRefusal[]
  /** Chains of the router; null if some of their specs are invisible or unusable. */
  readonly catalog: ChainCatalog | null
}

/** Name of a spec in messages; its extension distinguishes JSON from YAML. */
function fileOf(configMap: string, key: string): string {
  return `the ConfigMap ${configMap}, key ${key}`
}

/** Compiles the chain specs of a router, as its pods do when they start. */
export function compileSpecs({ texts, areAll }: SpecsRead, bundled: BundledSpecs): ReadSpecs {
  const sources = texts.map(({ configMap, key, text }): SourceFiles => {
    return { kind: 'file', files: [{ file: fileOf(configMap, key), text }], problems: [] }
  })
  const problems: Problem[] = []
  try {
    // A spec that may extend an unseen one is only checked for its form.
    if (areAll)
      return { refusals: [], catalog: sources.length > 0 ? bundled.over(sources) : bundled.catalog }
    for (const source of sources) readDocuments(source, problems)
  } catch (error) {
    if (!(error instanceof SpecError)) throw error
    problems.push(...error.problems)
  }
  const refusals = problems.map(({ message, hint }): ConfigRefusal => {
    const of = texts.find(({ configMap, key }) => message.startsWith(fileOf(configMap, key)))
    const field = of?.field ?? 'spec.specSources'
    return {
      reason: 'InvalidConfig',
      field,
      message: hint === null ? message : `${message} ${hint}`,
    }
  })
  return { refusals, catalog: null }
}
