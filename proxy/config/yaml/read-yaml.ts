// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml'
import { type Document, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { formatPath, type Locate, type Path, type Position } from '../problem.ts'
import { type Problem, problemAt, quote } from '../problem.ts'
import type { Scalar, Tree } from './scalar.ts'

/** A text that YAML could read, or what is wrong with it. */
export interface YamlText {
  /** Null when there is nothing to work with. */
  readonly document: Document | null
  readonly problems: readonly Problem[]
  readonly positionAt: (offset: number) => Position
}

/** The values of a file, and where they stand. */
export interface YamlFile {
  /** Null where YAML could not read it, or to check it would report a mistake twice. */
  readonly tree: Tree
  readonly problems: readonly Problem[]
  readonly locate: Locate
  /** Where the key of a value stands. */
  readonly locateKey: Locate
}

/** Turns a scalar's text into its value. */
export type ReadScalar = (written: string, position: Position, path: () => string) => Scalar

type Words = readonly [message: string, hint?: string | null]

const mostAliases = 10_000

/** Reads YAML 1.2 with every scalar kept as the text that stands in the file. Never throws. */
export function readYamlText(text: string): YamlText {
  const lineCounter = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset)
    return { line, column: col }
  }
  const document = parseDocument(text, {
    schema: 'failsafe',
    version: '1.2',
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  })
  const refuse = (problems: readonly Problem[]) => ({ document: null, problems, positionAt })
  const control = text.search(/(?![\s\u0085])\p{Cc}/u)
  if (control !== -1) {
    const message = 'the file holds a control character'
    return refuse([problemAt('', positionAt(control), message, 'Is it a text file?')])
  }
  // One slip makes several faults; the first says it best.
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) {
    const said = words[fault.code] ?? wordsOf(fault.message)
    return refuse([problemAt('', positionAt(fault.pos[0]), ...said)])
  }
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.source === '' && !contents.anchor)) {
    const hint = 'It needs at least endpoints and direct-rpc.'
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
  const isUnquoted = /at node end|Nested mappings are not allowed/.test(message)
  return [
    `not valid YAML: ${message.split('\n')[0]?.slice(0, 120)}`,
    isUnquoted
      ? 'Put a value with ": ", "[" or "{" in it in quotes, such as "[::1]:3360" or "https://h/${KEY}".'
      : null,
  ]
}

/** Takes the values out of a text: resolves aliases, refuses what only YAML needs, bounds the work. */
export function readYaml(text: string, readScalar: ReadScalar): YamlFile {
  const { document, problems: faults, positionAt } = readYamlText(text)
  const problems = [...faults]
  const locator = (wantsKey: boolean) => (path: string) => {
    const offset = document && offsetOf(document, parsePath(path), wantsKey)
    return offset === null ? null : positionAt(offset)
  }
  const places = { locate: locator(false), locateKey: locator(true) }
  if (document === null) return { tree: null, problems, ...places }
  let usable = true
  let aliases = 0
  /** What stands behind an anchor, and how many aliases that is; null while it is being read. */
  const anchors = new Map<string, { readonly tree: Tree; readonly aliases: number } | null>()
  const positionOf = (node: unknown) => positionAt((isNode(node) && node.range?.[0]) || 0)
  const report = (path: Path, node: unknown, ...[message, hint]: Words) =>
    problems.push(problemAt(formatPath(path), positionOf(node), message, hint))
  const refuse = (...said: Parameters<typeof report>): null => {
    usable = false
    report(...said)
    return null
  }

  const read = (node: unknown, path: Path): Tree => {
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      const name = `the alias *${node.source}`
      if (target === undefined)
        return refuse(path, node, `${name} has no anchor &${node.source} before it`)
      if (target === null) return refuse(path, node, `${name} stands inside its own anchor`)
      aliases += 1 + target.aliases
      return target.tree
    }
    if (!isNode(node)) return null
    const aliasesBefore = aliases
    if (node.tag !== undefined) report(path, node, ...tagRefused)
    if (node.anchor !== undefined) anchors.set(node.anchor, null)
    const tree = readNode(node, path)
    if (node.anchor !== undefined)
      anchors.set(node.anchor, { tree, aliases: aliases - aliasesBefore })
    return tree
  }

  const readNode = (node: unknown, path: Path): Tree => {
    if (isScalar(node)) {
      const { source = '', type } = node
      const isNull = type === 'PLAIN' && /^(?:~|null|Null|NULL)?$/.test(source)
      return isNull ? null : readScalar(source, positionOf(node), () => formatPath(path))
    }
    if (isSeq(node)) return node.items.map((item, index) => read(item, [...path, index]))
    return isMap(node) ? readMap(node, path) : null
  }

  const readMap = ({ items }: YAMLMap, path: Path): Tree => {
    const lines = new Map<string, number>()
    const entries = items.flatMap(({ key, value }): [string, Tree][] => {
      const word = wordOf(key)
      if (word === null) refuse(path, key, 'a key is not a plain text', 'Write key: value.')
      else if (word === '<<')
        refuse(path, key, 'merge keys (<<) are not supported', 'Write the keys out.')
      else if (lines.has(word)) {
        const hint = `It is first on line ${lines.get(word)}.`
        report([...path, word], key, `the key ${quote(word)} stands twice`, hint)
      } else {
        lines.set(word, positionOf(key).line)
        return [[word, read(value, [...path, word])]]
      }
      return []
    })
    return Object.fromEntries(entries)
  }

  const tree = read(document.contents, [])
  if (aliases > mostAliases)
    refuse([], document.contents, `the file holds more than ${mostAliases} aliases, written out`)
  return { tree: usable ? tree : null, problems, ...places }
}

function wordOf(key: unknown): string | null {
  return isScalar(key) ? (key.source ?? '') : null
}

/** Reads what `formatPath` writes. */
function parsePath(text: string): Path {
  return [...text.matchAll(/\["(.*?)"\]|([^.[\]]+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
}

/**
 * Where a place of a document, or the nearest around it, stands; null for the document itself. A scalar stands where its
 * value begins, a map or a list in a map where its key does.
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
