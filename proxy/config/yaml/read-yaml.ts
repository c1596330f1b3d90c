// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAlias, isMap, isNode, isPair, isScalar, isSeq } from 'yaml'
import { type Document, type Node, LineCounter, parseAllDocuments, visit } from 'yaml'
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

const mostAliases = 10_000
const deepest = 64
const mostSyntaxProblems = 10

/** Reads YAML 1.2 with every scalar kept as the text that stands in the file. Never throws. */
export function readYamlText(text: string): YamlText {
  const lines = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return line === 0 ? { line: 1, column: offset + 1 } : { line, column: col }
  }
  const failed = (offset: number | null, message: string, hint: string | null): YamlText => {
    const position = offset === null ? null : positionAt(offset)
    return { document: null, problems: [problemAt('', position, message, hint)], positionAt }
  }
  const control = /(?![\s\u0085])\p{Cc}/u.exec(text)
  if (control !== null) {
    lines.addNewLine(0)
    return failed(control.index, 'the file holds a control character', 'Is it a text file?')
  }
  const documents = parseAllDocuments(text, {
    schema: 'failsafe',
    version: '1.2',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  })
  const [document, second] = Array.isArray(documents) ? documents : []
  if (document === undefined || isEmpty(document))
    return failed(null, 'the file is empty', 'It needs at least endpoints and direct-rpc.')
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    // One slip makes several faults on its line; the first says it best.
    const problems = new Map<number, Problem>()
    for (const { pos, message } of faults) {
      const position = positionAt(pos[0])
      if (problems.size < mostSyntaxProblems && !problems.has(position.line))
        problems.set(position.line, problemAt('', position, ...wordsOf(message)))
    }
    return { document: null, problems: [...problems.values()], positionAt }
  }
  if (second !== undefined) {
    const hint = 'Keep one; remove the --- lines.'
    return failed(second.range[0], 'the file holds several YAML documents', hint)
  }
  return { document, problems: [], positionAt }
}

function isEmpty({ errors, warnings, contents }: Document): boolean {
  if (errors.length > 0 || warnings.length > 0) return false
  return contents === null || (isScalar(contents) && contents.source === '' && !contents.anchor)
}

function wordsOf(message: string): readonly [message: string, hint: string | null] {
  if (message.startsWith('Unresolved tag')) return tagRefused
  const hint = /at node end|Nested mappings are not allowed/.test(message)
    ? 'Put a value with ": ", "[" or "{" in it in quotes, such as "[::1]:3360" or "https://h/${KEY}".'
    : null
  return [`not valid YAML: ${message.split('\n')[0]?.slice(0, 120)}`, hint]
}

const tagRefused = ['a YAML tag ("!...") is not supported here', 'Remove the tag.'] as const

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
  const anchors = new Map<string, Node>()
  const positionOf = (node: unknown) => positionAt((isNode(node) && node.range?.[0]) || 0)
  const report = (path: Path, node: unknown, message: string, hint: string | null = null) =>
    problems.push(problemAt(formatPath(path), positionOf(node), message, hint))
  let usable = true
  const refuse = (...said: Parameters<typeof report>) => {
    usable = false
    report(...said)
    return visit.BREAK
  }
  visit(document, (key, node, above) => {
    if (!isNode(node) || key === 'key') return undefined
    const path = () => pathOf([...above, node])
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      const name = `the alias *${node.source}`
      if (target === undefined)
        return refuse(path(), node, `${name} has no anchor &${node.source} before it`)
      if (above.includes(target))
        return refuse(path(), node, `${name} stands inside its own anchor`)
      return undefined
    }
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    if (node.tag !== undefined) report(path(), node, ...tagRefused)
    if (isScalar(node)) {
      const { source = '', type } = node
      const isNull = type === 'PLAIN' && /^(?:~|null|Null|NULL)?$/.test(source)
      node.value = isNull ? null : readScalar(source, positionOf(node), () => formatPath(path()))
      return undefined
    }
    if (above.length > 2 * deepest + 2) return refuse([], node, 'the file is nested too deeply')
    const first = new Map<string, number>()
    for (const { key: name } of isMap(node) ? node.items : []) {
      const word = wordOf(name)
      if (word === null)
        return refuse(path(), name, 'a key is not a plain text', 'Write key: value.')
      if (word === '<<')
        return refuse(path(), name, 'merge keys (<<) are not supported', 'Write the keys out.')
      const line = first.get(word)
      if (line === undefined) first.set(word, positionOf(name).line)
      else {
        const message = `the key ${quote(word)} stands twice`
        report([...path(), word], name, message, `It is first on line ${line}.`)
      }
    }
    return undefined
  })
  let tree: Tree = null
  try {
    if (usable) tree = document.toJS({ maxAliasCount: mostAliases }) as Tree
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    refuse([], document.contents, `the file holds more than ${mostAliases} aliases, written out`)
  }
  return { tree, problems, ...places }
}

/** The way to the last of these nodes, each of which stands in the one before it. */
function pathOf(nodes: readonly unknown[]): Path {
  return nodes.flatMap((node, at): Path => {
    if (isPair(node)) return [wordOf(node.key) ?? '']
    return isSeq(node) && at + 1 < nodes.length ? [node.items.indexOf(nodes[at + 1])] : []
  })
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
