// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** A row of a table. */
interface Row {
  readonly case: string
  /** Patch of the base for a manifest to apply first, for immutable fields. */
  readonly after?: Patch
  /** Patch of the base. */
  readonly patch: Patch
  /** Lines of the answer to a refused manifest, without the value that the server repeats. */
  readonly says?: readonly string[]
}

type Json = string | number | boolean | null | readonly Json[] | Patch
interface Patch {
  readonly [key: string]: Json
}

/** A manifest of a table. */
export interface Manifest {
  readonly name: string
  /** A manifest to apply first. */
  readonly before: Json | null
  readonly manifest: Json
  /** Lines of the answer to the apply. */
  readonly says: readonly string[]
}

/** The manifests of one table, such as `rpc-router.refused.yaml`. */
export function readManifests(file: string): readonly Manifest[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  const { base, cases } = parse(text) as { base: Patch; cases: readonly Row[] }
  return cases.map(({ case: name, after, patch, says = [] }) => ({
    name,
    before: after === undefined ? null : merge(base, after),
    manifest: merge(base, patch),
    says,
  }))
}

/** Applies a merge patch (RFC 7396). */
function merge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged: Record<string, Json> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = merge(merged[key], value)
  }
  return merged
}

function isObject(value: Json | undefined): value is Patch {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Splits kubectl's output by refused object, in order. */
export function splitRefusals(stderr: string): readonly string[] {
  return stderr.split(/^(?=The \w+ "|Error from server)/m).filter((text) => text !== '')
}

/** The difference between kubectl's output and the expected one. */
export interface Difference {
  /** Expected lines that are missing. */
  readonly unsaid: readonly string[]
  /** Unexpected output. */
  readonly beyond: string
}

export const noDifference: Difference = { unsaid: [], beyond: '' }

/** Compares kubectl's output for one object with the expected lines. */
export function differenceOf(stderr: string, says: readonly string[]): Difference {
  // A single error is a line; several are in brackets, with commas.
  const said = withoutValues(stderr.replace(/^.*?(?: is invalid: ?|decoding error: )/s, ''))
  const longestFirst = says.toSorted((a, b) => b.length - a.length)
  const beyond = longestFirst.reduce((rest, line) => rest.replace(line, ''), said)
  return {
    unsaid: says.filter((line) => !said.includes(line)),
    beyond: beyond.replaceAll(/[\s*,[\]]+/g, ' ').trim(),
  }
}

/** Beside other errors. */
const notChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** `spec.a: Invalid value: "x": a must be …` without the values, which differ between versions. */
function withoutValues(text: string): string {
  return (
    text
      .replaceAll(/(?:<nil>: )?Invalid value: (?:(?:"(?:[^"\\]|\\.)*"|[\w.-]+): )?/g, '')
      .replace(notChecked, '')
      .replaceAll(/(Duplicate value): (?:"(?:[^"\\]|\\.)*"|(?:map\S+ \{\})?\{.*?\})/g, '$1')
      // Kubernetes 1.31 counts characters in other words.
      .replaceAll(/may not be longer than (\d+)/g, 'may not be more than $1 bytes')
      // Kubernetes 1.37 reports a fraction in these words, and a second time.
      .replaceAll('must be of type int32: "float64"', 'must be of type integer: "number"')
      .replaceAll(/Checked value must be of type integer with format int32 in [\w.]+/g, '')
  )
}
