// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { unsupportedName } from './capabilities.ts'
import { type IssueParams, kindKeyword } from './field.ts'
import { foreignKeyHint } from './foreign-keys.ts'
import { annotatedSchema, type JsonSchema, placesOfKey, sectionAt } from './json-schema.ts'
import { nearest } from './nearest.ts'
import { formatPath, type Path, quote } from './path.ts'
import type { Problem } from './problem.ts'
import { child, isList, isMap, type Tree } from './scalar.ts'
import { isSettingName } from './settings.ts'
import type { Position } from './yaml-text.ts'

/** Where the values and the keys of a file stand. */
export interface Places {
  /** Where a value stands. */
  locate(path: string): Position | null
  locateKey(path: string): Position | null
}

const mostListedKeys = 12

/** Nobody reads more, and suggestions take time. */
const mostUnknownKeys = 500

type Issue = z.core.$ZodIssue

/** Words the issues that zod found: what is wrong, where, and what would be right. */
export function explainIssues(
  issues: readonly Issue[],
  tree: Tree,
  places: Places,
): readonly Problem[] {
  const file: File = { tree, places, schema: annotatedSchema() }
  // A key that is missing because it is misspelt is one mistake, and the misspelling tells it better.
  const meant = new Set(issues.flatMap((issue) => meantKeys(issue, file)))
  return issues
    .filter((issue) => !meant.has(formatPath(pathOf(issue))))
    .flatMap((issue) => explainIssue(issue, file))
}

interface File {
  readonly tree: Tree
  readonly schema: JsonSchema
  readonly places: Places
}

/** The places of the keys that unknown ones were probably meant to be. */
function meantKeys(issue: Issue, { schema, tree }: File): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return []
  const path = pathOf(issue)
  const known = Object.keys(sectionAt(schema, path)?.properties ?? {})
  return issue.keys.slice(0, mostUnknownKeys).flatMap((key) => {
    const near = nearest(key, known)
    const missing = near !== null && child(valueAt(tree, path), near) === undefined
    return missing ? [formatPath([...path, near])] : []
  })
}

function pathOf(issue: Issue): Path {
  return issue.path.filter((part) => typeof part !== 'symbol')
}

function explainIssue(issue: Issue, { tree, schema, places }: File): readonly Problem[] {
  const path = pathOf(issue)
  const known = existingPath(tree, path)
  const actual = valueAt(tree, known)
  const params = 'params' in issue ? (issue.params as IssueParams | undefined) : undefined
  if (params !== undefined) {
    return params.silent ? [] : [problem(known, places, issue.message, params.hint)]
  }
  const misshapen = known.length < path.length && !isMap(actual) && !isList(actual)
  if (misshapen || (issue.code === 'unrecognized_keys' && !isMap(actual))) {
    return [problem(known, places, shapeMessage(actual, sectionAt(schema, known)), null)]
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, mostUnknownKeys).map((key) => unknownKey(path, key, schema, places))
  }
  if (known.length < path.length) {
    const name = formatPath(path.slice(known.length))
    const description = sectionAt(schema, path)?.description ?? null
    return [problem(known, places, `${quote(name)} is missing`, description)]
  }
  if (issue.code === 'too_small' && isList(actual)) {
    return [problem(path, places, 'the list is empty', 'It needs at least one entry.')]
  }
  const section = sectionAt(schema, path)
  const message = shapeMessage(actual, section)
  return [problem(path, places, message, addressHint(actual, section))]
}

/** Some routers have a map where an address stands here. */
function addressHint(actual: Tree, section: JsonSchema | null): string | null {
  if (!isMap(actual) || section?.[kindKeyword] !== 'address') return null
  return 'Write host:port. Listeners speak plaintext; TLS ends at the edge in front.'
}

/** The part of a path that the file has. */
function existingPath(tree: Tree, path: Path): Path {
  let value: Tree | undefined = tree
  for (const [index, part] of path.entries()) {
    value = child(value, part)
    if (value === undefined) return path.slice(0, index)
  }
  return path
}

function valueAt(tree: Tree, path: Path): Tree {
  return path.reduce<Tree | undefined>(child, tree) ?? null
}

function shapeMessage(actual: Tree, section: JsonSchema | null): string {
  if (actual === null) return 'has no value'
  const is = isList(actual) ? 'a list' : isMap(actual) ? 'a map' : 'a single value'
  return `is ${is}, and ${wantedShape(section)} is wanted`
}

function wantedShape(section: JsonSchema | null): string {
  if (section?.items !== undefined) {
    return section.items.properties === undefined ? 'a list' : 'a list of maps ("- key: value")'
  }
  const map = section?.properties ?? section?.['additionalProperties']
  return map === undefined ? 'a single value' : 'a map ("key: value")'
}

function unknownKey(path: Path, key: string, schema: JsonSchema, places: Places): Problem {
  const known = Object.keys(sectionAt(schema, path)?.properties ?? {})
  const near = nearest(key, known)
  const elsewhere = placesOfKey(schema, near ?? key).filter((place) => place !== genericPath(path))
  const inner = formatPath([...path, key])
  const at = places.locateKey(inner)
  return {
    severity: 'error',
    path: inner,
    line: at?.line ?? null,
    column: at?.column ?? null,
    message: `unknown key ${quote(key)}`,
    hint: foreignKeyHint(key) ?? unknownKeyHint(key, near, elsewhere, known),
  }
}

function unknownKeyHint(
  key: string,
  near: string | null,
  elsewhere: readonly string[],
  known: readonly string[],
): string {
  if (near !== null) return `Did you mean ${quote(near)}?`
  if (elsewhere.length > 0) {
    const places = elsewhere.map((place) =>
      place === '' ? 'at the top of the file' : `in ${place}`,
    )
    return `${quote(key)} belongs ${places.join(' or ')}.`
  }
  const supported = known.filter((name) => unsupportedName(name, null) === null)
  const listed = supported.filter(
    (name) => supported.length < mostListedKeys || !isSettingName(name),
  )
  const others = listed.length < supported.length ? ', and the flags of router --help' : ''
  return `Known here: ${listed.join(', ')}${others}.`
}

/** `endpoints[0].relay` as `endpoints[].relay`. */
function genericPath(path: Path): string {
  return formatPath(path).replace(/\[\d+\]/g, '[]')
}

function problem(path: Path, places: Places, message: string, hint: string | null): Problem {
  const place = formatPath(path)
  const { line = null, column = null } = places.locate(place) ?? {}
  return { severity: 'error', path: place, line, column, message, hint }
}
