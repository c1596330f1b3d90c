// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SpecSource } from '../api/spec-sources.ts'
import { bundledSpecs } from './pod-paths.ts'
import type { ValueCollector } from './value-collector.ts'

/** The `use-static-spec` list of the config: paths in the pod, and URLs. Undefined for the bundled specs alone. */
export function specSourceSection(
  sources: readonly SpecSource[] | undefined,
  collector: ValueCollector,
): readonly string[] | undefined {
  return sources?.flatMap((source, index) => {
    const field = `spec.specSources[${index}]`
    if (source.url !== undefined) return [source.url]
    if (source.configMap === undefined) return [bundledSpecs]
    const { name, keys } = source.configMap
    const texts = collector.configMapTexts(`${field}.configMap`, name, keys)
    return texts.map(([key, text]) => {
      const words = ['', 'spec', String(index), name, key]
      return collector.copiedFile({ field, words }, text, key.endsWith('.json') ? 'json' : 'yml')
    })
  })
}

/** True when every chain that the router can know is one of the image. */
export function usesBundledSpecsAlone(sources: readonly SpecSource[] | undefined): boolean {
  return sources === undefined || sources.every(({ type }) => type === 'Bundled')
}
