// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SpecSource } from '../api/spec-sources.ts'
import { isJsonKey, type SpecText } from './own-spec.ts'
import { bundledSpecs } from './pod-paths.ts'
import type { ValueCollector } from './value-collector.ts'

/** The specs of a router's own. */
export interface SpecsRead {
  /** The `use-static-spec` list of the config: paths in the pod, and URLs. Undefined for the bundled specs alone. */
  readonly section: readonly string[] | undefined
  readonly texts: readonly SpecText[]
  /** Whether no others are read by the pods: none of a URL, and none that is not there yet. */
  readonly areAll: boolean
}

/** Gathers the specs that a router asks for. */
export function readSpecSources(
  sources: readonly SpecSource[] | undefined,
  collector: ValueCollector,
): SpecsRead {
  const texts: SpecText[] = []
  let areAll = true
  const section = sources?.flatMap((source, index) => {
    if (source.url !== undefined) {
      areAll = false
      return [source.url]
    }
    if (source.configMap === undefined) return [bundledSpecs]
    const { name, keys } = source.configMap
    const field = `spec.specSources[${index}].configMap`
    const found = collector.configMapTexts(field, name, keys)
    if (found.length === 0) areAll = false
    return found.map(([key, text]) => {
      // One that is missing was told as such.
      if (text === '') areAll = false
      else texts.push({ field, configMap: name, key, text })
      const words = ['', 'spec', String(index), name, key]
      const place = { field: `spec.specSources[${index}]`, words }
      return collector.copiedFile(place, text, isJsonKey(key) ? 'json' : 'yml')
    })
  })
  return { section, texts, areAll }
}

/** True when every chain that the router can know is one of the image. */
export function usesBundledSpecsAlone(sources: readonly SpecSource[] | undefined): boolean {
  return sources === undefined || sources.every(({ type }) => type === 'Bundled')
}
