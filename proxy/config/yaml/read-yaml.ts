// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter } from 'yaml'
import type { Document, Node as YamlNode, Scalar as YamlScalar, YAMLMap } from 'yaml'
import { formatPath, type Locate, type Path, type Position } from '../problem.ts'
import { type Problem, problemAt, quote } from '../problem.ts'
import { parseYaml } from './parse-yaml.ts'
import { isMap as isTreeMap, renderPlaceholders } from './scalar.ts'
import type { Scalar, Tree, TreeMap } from './scalar.ts'

type Words = readonly [message: string, hint?: string | null]

const maxAliases = 1000

/** Reads every scalar as text. Never throws. @returns no document if there is a problem */
function readYamlText(text: string) {
  const lineCounter = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset)
    return { line, column: col }
  }
  const document = parseYaml(text, {
    schema: 'failsafe',
    version: '1.2',
    uniqueKeys: false,
    lineCounter,
  })
  const refuse = (problems: readonly Problem[]) => ({ document: null, problems, positionAt })
  const control = text.search(/(?![\s\u0085])\p{Cc}/u)
  if (control !== -1) {
    const message = 'the file holds a control character'
    return refuse([problemAt('', positionAt(control), message, 'Is it a text file?')])
  }
  // One mistake causes several faults; the first describes it best.
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) {
    const said =
      fault.code === 'RESOURCE_EXHAUSTION'
        ? ([fault.message, 'Is it the right file?'] as const)
        : (words[fault.code] ?? wordsOf(fault.message))
    return refuse([problemAt('', positionAt(fault.pos[0]), ...said)])
  }
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.source === '' && !contents.anchor)) {
    const hint = 'It needs direct-rpc, the list of upstreams; router init writes a first config.'
    return refuse([problemAt('', null, 'the file is empty', hint)])
  }
  return { document, problems: [], positionAt }
}

const tagRefused: Words = ['a YAML tag ("!...") is not supported here', 'Remove the tag.']

const words: Readonly<Record<string, Words>> = {
  TAG_RESOLVE_FAILED: tagRefused,
  MULTIPLE_DOCS: ['the file holds several YAML documents', 'Keep one; remove the --- lines.'],
}

function wordsOf(message: string): Words {
  const isUnquoted = /at node end|Nested mappings are not allowed|between flow sequence/.test(
    message,
  )
  return [
    `not valid YAML: ${message.split('\n')[0]?.slice(0, 120)}`,
    isUnquoted
      ? 'Put a value with ": ", "[" or "{" in it in quotes, such as "[::1]:3360" or "https://h/${KEY}".'
      : message.startsWith('Tabs')
        ? 'Indent with spaces.'
        : null,
  ]
}

/**
 * Extracts the values of a text: renders placeholders, resolves aliases, rejects other YAML
 * features.
 * @returns `tree`: null if unreadable, or if checks would repeat a report; `filledIn`: placeholder
 * values, which are secret
 */
export function readYaml(text: string, environment: Readonly<Record<string, string | undefined>>) {
  const { document, problems: faults, positionAt } = readYamlText(text)
  const problems = [...faults]
  const filledIn: string[] = []
  const missed = new Set<string>()
  const anchors = new Map<string, unknown>()
  let aliases = 0
  let usable = true
  const report = (path: Path, node: unknown, ...[message, hint]: Words) => {
    const position = positionAt((isNode(node) && node.range?.[0]) || 0)
    problems.push(problemAt(formatPath(path), position, message, hint))
  }
  const refuse = (...said: Parameters<typeof report>): null => {
    usable = false
    report(...said)
    return null
  }

  const read = (node: unknown, path: Path): Tree => {
    if (isAlias(node)) {
      const name = `the alias *${node.source}`
      const target = anchors.get(node.source)
      if (target === undefined)
        return refuse(path, node, `${name} has no anchor &${node.source} before it`)
      aliases++
      if (aliases < maxAliases) return read(target, path)
      const message = `${name} is inside its own anchor, or the file has too many aliases`
      return aliases === maxAliases ? refuse([], node, message) : null
    }
    if (!isNode(node)) return null
    if (node.tag !== undefined) report(path, node, ...tagRefused)
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    if (isSeq(node)) return node.items.map((item, index) => read(item, [...path, index]))
    return isMap(node) ? readMap(node, path) : readScalar(node, path)
  }

  const readMap = ({ items }: YAMLMap, path: Path): TreeMap => {
    const entries = new Map<string, Tree>()
    for (const { key, value } of items) {
      const word = wordOf(key)
      const at = [...path, word]
      if (!isScalar(key)) refuse(path, key, 'a key is not a plain text', 'Write key: value.')
      else if (word === '<<')
        refuse(path, key, 'merge keys (<<) are not supported', 'Write the keys out.')
      else if (entries.has(word)) report(at, key, `the key ${quote(word)} is repeated`, keepOne)
      else entries.set(word, read(value, at))
    }
    return Object.fromEntries(entries)
  }

  const readScalar = (node: YamlNode, path: Path): Scalar | null => {
    const { source = '', type } = node as YamlScalar
    if (type === 'PLAIN' && /^(?:~|null|Null|NULL)?$/.test(source)) return null
    const rendering = renderPlaceholders(source, environment)
    filledIn.push(...rendering.filledIn)
    if (rendering.malformed) report(path, node, 'a placeholder is not well formed', malformedHint)
    for (const name of new Set(rendering.missing).difference(missed)) {
      missed.add(name)
      const state = environment[name] === '' ? 'is empty' : 'is not set'
      report(path, node, `the variable ${name} ${state}`, unsetVariableHint)
    }
    return rendering.scalar
  }

  const tree = document && read(document.contents, [])
  if (document && problems.length === 0 && !isTreeMap(tree)) report([], document, ...notMap)
  const locate: Locate = (path, wantsKey = false) => {
    const offset = document && offsetOf(document, parsePath(path), wantsKey)
    return offset === null ? null : positionAt(offset)
  }
  return { tree: usable && isTreeMap(tree) ? tree : null, problems, filledIn, locate }
}

const keepOne = 'Keep one of them.'
const notMap: Words = [
  'the top level of the file is not a map',
  'It begins with keys such as direct-rpc:.',
]
const malformedHint =
  'Write ${NAME} or $<NAME>: letters, digits and underscores. A literal ${ is written $${.'

/** Advice for someone at a terminal about an unset variable. */
export const unsetVariableHint = 'Set it in the environment or in an env file (--env-file).'

function wordOf(key: unknown): string {
  return isScalar(key) ? (key.source ?? '') : String(key)
}

/** Parses the output of `formatPath`. */
function parsePath(text: string): Path {
  return [...text.matchAll(/\["(.*?)"\]|([^.[\]]+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
}

/**
 * Offset of a path in a document, or of its nearest ancestor; null for the document itself. Points
 * at a scalar's value, but at the key of a nested map or list.
 */
export function offsetOf(document: Document, path: Path, wantsKey: boolean): number | null {
  let node: unknown = document.contents
  let found: unknown = null
  for (const part of path) {
    const target: unknown = isAlias(node) ? node.resolve(document) : node
    if (isMap(target)) {
      const pair = target.items.find(({ key }) => wordOf(key) === String(part))
      if (pair === undefined) break
      found = pair.key
      node = pair.value
      if (isScalar(node) && !wantsKey) found = node
    } else if (isSeq(target) && target.items[Number(part)] !== undefined)
      found = node = target.items[Number(part)]
    else break
  }
  return isNode(found) ? (found.range?.[0] ?? null) : null
}
