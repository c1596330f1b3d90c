// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { isUnbuilt } from './capabilities.ts'
import { kindKeyword, paramsOf } from './fields/field.ts'
import { type JsonSchema, annotatedSchema, placesOfKey, sectionAt } from './json-schema.ts'
import { nearest } from './nearest.ts'
import { type Path, type Problem, formatPath, problemAt, quote } from './problem.ts'
import { isSettingName } from './settings.ts'
import type { YamlFile } from './yaml/read-yaml.ts'
import { type Tree, child, isList, isMap } from './yaml/scalar.ts'

const mostListedKeys = 12

/** Nobody reads more, and suggestions take time. */
const mostUnknownKeys = 500

type Issue = z.core.$ZodIssue

/** Words the issues that zod found: what is wrong, where, and what would be right. */
export function explainIssues(issues: readonly Issue[], file: YamlFile): readonly Problem[] {
  const schema = annotatedSchema()
  const unknown = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return []
    const path = issue.path as Path
    const section = valueAt(file.tree, path)
    const known = Object.keys(sectionAt(schema, path)?.properties ?? {})
    if (!isMap(section)) return []
    return issue.keys.slice(0, mostUnknownKeys).map((key) => {
      const near = nearest(key, known)
      const place = formatPath([...path, key])
      const hint = foreignKeyHint(key) ?? unknownKeyHint(key, near, known, path, schema)
      const message = `unknown key ${quote(key)}`
      // A key that is missing because it is misspelt is one mistake, and the misspelling says it better.
      const isMeant = near !== null && child(section, near) === undefined
      const problem = problemAt(place, file.locateKey(place), message, hint)
      return { problem, meant: isMeant ? formatPath([...path, near]) : null }
    })
  })
  const meant = new Set(unknown.map((each) => each.meant))
  return [
    ...unknown.map(({ problem }) => problem),
    ...issues.flatMap((issue) => explainIssue(issue, file, schema, meant) ?? []),
  ]
}

function explainIssue(
  issue: Issue,
  { tree, locate }: YamlFile,
  schema: JsonSchema,
  meant: ReadonlySet<string | null>,
): Problem | null {
  const path = issue.path as Path
  if (meant.has(formatPath(path))) return null
  // The part of the path that the file has.
  let known = path
  while (known.length > 0 && valueAt(tree, known) === undefined) known = known.slice(0, -1)
  const actual = valueAt(tree, known) ?? null
  const place = formatPath(known)
  const say = (message: string, hint: string | null = null): Problem =>
    problemAt(place, locate(place), message, hint)
  const params = paramsOf(issue)
  if (params !== null) return params.silent ? null : say(issue.message, params.hint)
  if (known.length < path.length && (isMap(actual) || isList(actual))) {
    const missing = formatPath(path.slice(known.length))
    return say(`${quote(missing)} is missing`, sectionAt(schema, path)?.description ?? null)
  }
  if (issue.code === 'unrecognized_keys' && isMap(actual)) return null
  if (issue.code === 'too_small' && isList(actual))
    return say('the list is empty', 'It needs at least one entry.')
  const section = sectionAt(schema, known)
  if (actual === null) return say('has no value')
  const is = isList(actual) ? 'a list' : isMap(actual) ? 'a map' : 'a single value'
  // Some routers have a map where an address stands here.
  const isAddress = isMap(actual) && section?.[kindKeyword] === 'address'
  const hint = 'Write host:port. Listeners speak plaintext; TLS ends at the edge in front.'
  return say(`is ${is}, and ${wantedShape(section)} is wanted`, isAddress ? hint : null)
}

function valueAt(tree: Tree, path: Path): Tree | undefined {
  return path.reduce<Tree | undefined>(child, tree)
}

function wantedShape(section: JsonSchema | null): string {
  if (section?.items !== undefined) {
    return section.items.properties === undefined ? 'a list' : 'a list of maps ("- key: value")'
  }
  const map = section?.properties ?? section?.['additionalProperties']
  return map === undefined ? 'a single value' : 'a map ("key: value")'
}

function unknownKeyHint(
  key: string,
  near: string | null,
  known: readonly string[],
  path: Path,
  schema: JsonSchema,
): string {
  if (near !== null) return `Did you mean ${quote(near)}?`
  const here = formatPath(path).replace(/\[\d+\]/g, '[]')
  const elsewhere = placesOfKey(schema, key).filter((place) => place !== here)
  if (elsewhere.length > 0) {
    const places = elsewhere.map((place) =>
      place === '' ? 'at the top of the file' : `in ${place}`,
    )
    return `${quote(key)} belongs ${places.join(' or ')}.`
  }
  const supported = known.filter((name) => !isUnbuilt(name))
  const isShort = supported.length < mostListedKeys
  const listed = supported.filter((name) => isShort || !isSettingName(name))
  const others = listed.length < supported.length ? ', and the flags of router --help' : ''
  return `Known here: ${listed.join(', ')}${others}.`
}

/** Keys that files of kindred routers have, and what to write instead. */
const hints: ReadonlyMap<string, string> = new Map([
  ['static-providers', 'Primary upstreams are the entries of direct-rpc.'],
  ['backup-providers', 'Upstreams that take over are the entries of backup-direct-rpc.'],
  ['geolocation', 'Upstreams are chosen by what is measured of them. Remove the key.'],
  ['stake', 'Upstreams are chosen by what is measured of them; see strategy. Remove the key.'],
  [
    'internal-path',
    'Remove the key, and the path from the end of an http URL: the spec says which path a method has, and the router appends it. A ws URL stays whole, for nothing is appended to it.',
  ],
  ['ip-forwarding', 'The address of a client is never sent to an upstream. Remove the key.'],
  ['methods', 'Which methods a URL serves follows from its addons. Remove the key.'],
  ['use-tls', 'TLS follows from the scheme of the URL: https, wss or grpcs. Remove the key.'],
  ['allow-insecure', 'Write tls: {insecure-skip-verify: true} in auth-config.'],
  ['cacert-pem', 'Write tls: {ca-file: ...} in auth-config.'],
  ['cert-pem', 'Write tls: {cert-file: ...} in auth-config.'],
  ['key-pem', 'Write tls: {key-file: ...} in auth-config.'],
  ['tls-enabled', 'Listeners speak plaintext; TLS ends at the edge in front. Remove the key.'],
  ['disable-tls', 'Listeners speak plaintext. Remove the key.'],
  ['health-check-path', 'Health is told on metrics-listen-address. Remove the key.'],
])

/** What to write instead of a key of a kindred router; null for any other key. */
function foreignKeyHint(key: string): string | null {
  return hints.get(key) ?? null
}
