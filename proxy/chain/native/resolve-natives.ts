// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { complainInto, type SpecDocument } from '../document.ts'
import { nearest } from '../../config/nearest.ts'
import type { ChainEntry, SourceDocuments } from '../read-documents.ts'
import type { SpecProblem } from '../spec-error.ts'
import { extendSpec } from './extend.ts'
import type { NativeSpec } from './schema.ts'
import { validateSpec } from './validate.ts'

/**
 * The native chains of a source, each laid over the one that it extends: another of this source, or
 * one of an earlier source whatever its format.
 */
export function resolveNatives(
  source: SourceDocuments,
  earlier: ReadonlyMap<string, ChainEntry>,
  problems: SpecProblem[],
): ChainEntry[] {
  const natives = new Map(source.natives.map((each) => [each.spec.id.toLowerCase(), each]))
  const built = new Map<string, NativeSpec | null>()

  const build = (id: string, chain: readonly string[]): NativeSpec | null => {
    const known = built.get(id)
    if (known !== undefined) return known
    const native = natives.get(id)
    if (native === undefined) return null
    const { spec, document } = native
    const base = spec.extends === undefined ? null : baseOf(spec, document, [...chain, id])
    const failed = spec.extends !== undefined && base === null
    const result = failed ? null : base === null ? spec : extendSpec(base, spec)
    if (result) validateSpec(spec, base, result, complainInto(problems, document))
    built.set(id, result)
    return result
  }

  const baseOf = (
    spec: NativeSpec,
    document: SpecDocument,
    chain: readonly string[],
  ): NativeSpec | null => {
    const wanted = (spec.extends ?? '').toLowerCase()
    const complain = complainInto(problems, document)
    if (chain.includes(wanted) && !(wanted === chain.at(-1) && earlier.has(wanted))) {
      const loop = [...chain.slice(chain.indexOf(wanted)), wanted].map((id) => id.toUpperCase())
      complain(['extends'], `goes in a circle: ${loop.join(' -> ')}.`)
      return null
    }
    // A chain may extend the one of the same id in an earlier source.
    if (natives.has(wanted) && wanted !== chain.at(-1)) return build(wanted, chain)
    const entry = earlier.get(wanted)
    if (entry !== undefined) return problems.length > 0 ? null : entry.resolve()
    const near = nearest(wanted, [...natives.keys(), ...earlier.keys()])?.toUpperCase()
    complain(
      ['extends'],
      `there is no chain \`${spec.extends}\`.`,
      near === undefined ? 'Add its spec to the sources.' : `Did you mean \`${near}\`?`,
    )
    return null
  }

  return source.natives.flatMap(({ spec }) => {
    const result = build(spec.id.toLowerCase(), [])
    return result === null
      ? []
      : [{ id: result.id, aliases: result.aliases ?? [], resolve: () => result }]
  })
}
