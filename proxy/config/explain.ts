// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { type JsonSchema, annotatedSchema, sectionAt } from './json-schema.ts'
import { nearest } from './nearest.ts'
import { type Locate, type Path, type Problem, formatPath, problemAt, quote } from './problem.ts'
import { isSettingName } from './settings.ts'
import { type Tree, child, isList, isMap } from './yaml/scalar.ts'

const maxListedKeys = 12
/** More messages would not help, and explaining every mistake of a long file takes minutes. */
const maxExplained = 100

type Issue = z.core.$ZodIssue

/**
 * Explains zod issues: what is wrong, where, and how to fix it.
 *
 * @param interfacesOf those of the chain that an entry names
 * @param sourceOf the flag or variable that set a top-level key; undefined when the file did
 */
export function explainIssues(
  all: readonly Issue[],
  tree: Tree,
  locate: Locate,
  sourceOf: (key: unknown) => string | undefined,
  interfacesOf: (entry: Tree) => readonly string[] | null,
): readonly Problem[] {
  if (all.length === 0) return []
  const schema = annotatedSchema()
  const issues = all.slice(0, maxExplained)
  const meant = new Set<string>()
  /** Places of single values that must be maps. */
  const single = new Set<string>()
  const unknown = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return []
    const path = issue.path as Path
    const known = Object.keys(sectionAt(schema, path)?.properties ?? {})
    if (!isMap(valueAt(tree, path))) {
      const place = formatPath(path)
      single.add(place)
      return problemAt(place, locate(place), `must be a map with ${known.join(', ')}`)
    }
    return issue.keys.slice(0, maxExplained).map((key) => {
      const near = nearest(key, known)
      if (near !== null) meant.add(formatPath([...path, near]))
      const place = formatPath([...path, key])
      const hint = near === null ? knownKeys(known) : `Did you mean ${quote(near)}?`
      return problemAt(place, locate(place, true), `unknown key ${quote(key)}`, hint)
    })
  })
  const others = issues.flatMap((issue) => {
    const path = issue.path as Path
    // The part of the path that exists in the file.
    let known = path
    while (known.length > 0 && valueAt(tree, known) === undefined) known = known.slice(0, -1)
    // The report of a misspelt key also covers the missing key that it was meant to be.
    const isMisspelt = known.length < path.length && meant.has(formatPath(path))
    if (issue.code === 'unrecognized_keys' || isMisspelt) return []
    const place = formatPath(known)
    if (known.length < path.length && single.has(place)) return []
    if (single.has(`${place}[0]`)) return []
    const actual = valueAt(tree, known) ?? null
    const own = path.at(-1) === 'api-interface' ? interfacesOf(actual) : null
    const [message, hint] = explainIssue(issue, actual, known, schema, own)
    const source = sourceOf(path[0])
    return source === undefined
      ? problemAt(place, locate(place), message, hint)
      : problemAt(source, null, message, hint)
  })
  return [...unknown, ...others]
}

function knownKeys(known: readonly string[]): string {
  const isShort = known.length < maxListedKeys
  const listed = known.filter((name) => isShort || !isSettingName(name))
  const others = listed.length < known.length ? ', and the flags of router help run' : ''
  return `Known here: ${listed.join(', ')}${others}.`
}

/** @param actual the file's value at the existing part of the issue's path */
function explainIssue(
  issue: Issue,
  actual: Tree,
  known: Path,
  schema: JsonSchema,
  interfaces: readonly string[] | null,
): readonly [message: string, hint?: string | null | undefined] {
  // Custom issues carry their own message and hint.
  if (issue.code === 'custom' && issue.params) return [issue.message, issue.params['hint']]
  const path = issue.path as Path
  if (known.length < path.length && (isMap(actual) || isList(actual))) {
    const missing = formatPath(path.slice(known.length))
    const { description = '', enum: words } = sectionAt(schema, path) ?? {}
    const allowed = Array.isArray(words) ? ` Allowed: ${(interfaces ?? words).join(', ')}.` : ''
    return [`${quote(missing)} is missing`, description + allowed]
  }
  if (issue.code === 'too_small') return ['the list is empty', 'It needs at least one entry.']
  if (actual === null) return ['has no value']
  const is = isList(actual) ? 'a list' : isMap(actual) ? 'a map' : 'a single value'
  return [`is ${is}; expected ${expectedShape(sectionAt(schema, known))}`]
}

function valueAt(tree: Tree, path: Path): Tree | undefined {
  return path.reduce<Tree | undefined>(child, tree)
}

function expectedShape(section: JsonSchema | undefined): string {
  if (section?.items !== undefined)
    return section.items.properties === undefined ? 'a list' : 'a list of maps ("- key: value")'
  const map = section?.properties ?? section?.['additionalProperties']
  return map === undefined ? 'a single value' : 'a map ("key: value")'
}
