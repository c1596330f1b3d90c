// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
} from 'yaml'
import type { ParsedNode } from 'yaml'
import { formatPath, type Locate, type Path, type Position } from '../problem.ts'
import { type Problem, problemAt, quote } from '../problem.ts'
import type { Scalar, Tree, TreeMap } from './scalar.ts'

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
export type ReadScalar = (written: string, path: string, position: Position) => Scalar

const mostValues = 100_000
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
    ? 'Put the value in quotes, such as "[::1]:3360".'
    : null
  return [`not valid YAML: ${message.split('\n')[0]?.slice(0, 120)}`, hint]
}

const tagRefused = ['a YAML tag ("!...") is not supported here', 'Remove the tag.'] as const

/** Takes the values out of a text: resolves aliases, refuses what only YAML needs, bounds the work. */
export function readYaml(text: string, readScalar: ReadScalar): YamlFile {
  const yaml = readYamlText(text)
  const root = yaml.document?.contents as ParsedNode | null | undefined
  const reader = new TreeReader(yaml, readScalar)
  const tree = root ? reader.read(root, [], true) : null
  return {
    tree: reader.usable ? tree : null,
    problems: [...yaml.problems, ...reader.problems],
    locate: (path) => reader.locate(root, path, false),
    locateKey: (path) => reader.locate(root, path, true),
  }
}

class TreeReader {
  readonly problems: Problem[] = []
  usable = true
  readonly #anchors = new Map<string, ParsedNode>()
  readonly #open = new Set<ParsedNode>()
  readonly #text: YamlText
  readonly #readScalar: ReadScalar
  #values = 0

  constructor(text: YamlText, readScalar: ReadScalar) {
    this.#text = text
    this.#readScalar = readScalar
  }

  /** @param original false inside an alias */
  read(node: ParsedNode, path: Path, original: boolean): Tree {
    if (!this.usable) return null
    if (++this.#values > mostValues)
      return this.#refuse(
        [],
        node,
        `the file holds more than ${mostValues} values, aliases written out`,
      )
    if (path.length > deepest) return this.#refuse([], node, 'the file is nested too deeply')
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source)
      if (target === undefined)
        return this.#refuse(
          path,
          node,
          `the alias *${node.source} has no anchor &${node.source} before it`,
        )
      if (this.#open.has(target))
        return this.#refuse(path, node, `the alias *${node.source} stands inside its own anchor`)
      return this.read(target, path, false)
    }
    if (original && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    if (node.tag !== undefined) this.#report(path, node, ...tagRefused)
    if (isScalar(node)) {
      const { source = '', type } = node as { source?: string; type?: string }
      if (type === 'PLAIN' && /^(?:~|null|Null|NULL)?$/.test(source)) return null
      return this.#readScalar(source, formatPath(path), this.#positionOf(node))
    }
    this.#open.add(node)
    const value = isSeq(node)
      ? node.items.map((item, index) => this.read(item, [...path, index], original))
      : this.#readMap(node.items, path, original)
    this.#open.delete(node)
    return value
  }

  #readMap(pairs: readonly MapPair[], path: Path, original: boolean): TreeMap | null {
    // No prototype, so that a key named `__proto__` is a key like any other.
    const map = Object.create(null) as Record<string, Tree>
    const first = new Map<string, ParsedNode | null>()
    for (const { key, value } of pairs) {
      const name = this.#nameOf(key)
      if (name === null)
        return this.#refuse(path, key, 'a key is not a plain text', 'Write key: value.')
      if (original && key?.anchor !== undefined) this.#anchors.set(key.anchor, key)
      if (name === '<<')
        return this.#refuse(path, key, 'merge keys (<<) are not supported', 'Write the keys out.')
      const inner = [...path, name]
      if (first.has(name)) {
        const { line } = this.#positionOf(first.get(name))
        const message = `the key ${quote(name)} stands twice`
        this.#report(inner, key, message, `It is first on line ${line}.`)
        continue
      }
      first.set(name, key)
      map[name] = value === null ? null : this.read(value, inner, original)
    }
    return map
  }

  #nameOf(key: ParsedNode | null): string | null {
    const target = isAlias(key) ? this.#anchors.get(key.source) : key
    return isScalar(target) ? ((target as { source?: string }).source ?? '') : null
  }

  /** A scalar stands where its value begins, a map or a list in a map where its key does. */
  locate(root: ParsedNode | null | undefined, path: string, wantsKey: boolean): Position | null {
    let node: ParsedNode | null | undefined = root
    let found: ParsedNode | null | undefined = null
    for (const [, quoted, plain] of path.matchAll(/\["(.*?)"\]|([^.[\]]+)/g)) {
      const part = quoted ?? plain ?? ''
      const target: ParsedNode | null | undefined = isAlias(node)
        ? this.#anchors.get(node.source)
        : node
      if (isMap(target)) {
        const pair = (target.items as readonly MapPair[]).find(
          ({ key }) => this.#nameOf(key) === part,
        )
        if (pair === undefined) break
        found = pair.key
        node = pair.value
        if (isScalar(node) && !wantsKey) found = node
      } else if (isSeq(target) && target.items[Number(part)] !== undefined) {
        found = node = target.items[Number(part)] as ParsedNode
      } else break
    }
    return found ? this.#positionOf(found) : null
  }

  #positionOf(node: ParsedNode | null | undefined): Position {
    return this.#text.positionAt(node?.range[0] ?? 0)
  }

  #refuse(path: Path, node: ParsedNode | null, message: string, hint: string | null = null): null {
    this.usable = false
    this.#report(path, node, message, hint)
    return null
  }

  #report(path: Path, node: ParsedNode | null, message: string, hint: string | null): void {
    this.problems.push(problemAt(formatPath(path), this.#positionOf(node), message, hint))
  }
}

interface MapPair {
  readonly key: ParsedNode | null
  readonly value: ParsedNode | null
}
