// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode } from 'yaml'
import { formatPath, type Path, quote } from './path.ts'
import type { Problem } from './problem.ts'
import type { Scalar } from './scalar.ts'
import { type Tree, type TreeMap } from './scalar.ts'
import type { Position, YamlText } from './yaml-text.ts'

const mostValues = 100_000
const deepest = 64

/** The values of a document, and where they stand. */
interface YamlTree {
  readonly tree: Tree
  /** By the written form of a path: where its value begins; for a map or a list, where its key stands. */
  readonly positions: ReadonlyMap<string, Position>
  readonly keyPositions: ReadonlyMap<string, Position>
  readonly problems: readonly Problem[]
  /** False when values are wrong for reasons of YAML, and to check them would report a mistake twice. */
  readonly usable: boolean
}

/** Turns a scalar's text into its value; told where it stands. */
type ReadScalar = (written: string, path: string, position: Position) => Scalar

/** Takes the values out of a document: resolves aliases, refuses what only YAML needs, bounds the work. */
export function readYamlTree(document: Document, text: YamlText, readScalar: ReadScalar): YamlTree {
  const reader = new TreeReader(text, readScalar)
  const { contents } = document
  const tree = contents === null ? null : reader.read(contents as ParsedNode, [], null, true)
  return {
    tree,
    positions: reader.positions,
    keyPositions: reader.keyPositions,
    problems: reader.problems,
    usable: reader.usable,
  }
}

class TreeReader {
  readonly positions = new Map<string, Position>()
  readonly keyPositions = new Map<string, Position>()
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

  read(node: ParsedNode, path: Path, key: Position | null, original: boolean): Tree {
    const at = this.#positionOf(node)
    if (++this.#values > mostValues) {
      if (this.#values === mostValues + 1) {
        this.#refuse(
          [],
          at,
          `the file holds more than ${mostValues} values, aliases written out`,
          null,
        )
      }
      return null
    }
    if (path.length > deepest) {
      this.#refuse([], at, 'the file is nested too deeply', null)
      return null
    }
    if (isAlias(node)) return this.#readAlias(node.source, path, key, at)
    if (node.tag !== undefined) this.#report(path, at, ...tagRefused)
    if (original && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    const place = formatPath(path)
    this.positions.set(place, isScalar(node) ? at : (key ?? at))
    if (isScalar(node)) return this.#readScalarNode(node, place, at)

    this.#open.add(node)
    const value = isSeq(node)
      ? node.items.map((item, index) => this.read(item, [...path, index], null, original))
      : isMap(node)
        ? this.#readMap(node, path, original)
        : null
    this.#open.delete(node)
    return value
  }

  #readAlias(name: string, path: Path, key: Position | null, at: Position): Tree {
    const node = this.#anchors.get(name)
    if (node === undefined) {
      this.#refuse(path, at, `the alias *${name} has no anchor &${name} before it`, null)
      return null
    }
    if (this.#open.has(node)) {
      this.#refuse(path, at, `the alias *${name} stands inside its own anchor`, null)
      return null
    }
    return this.read(node, path, key, false)
  }

  #readScalarNode(
    node: ParsedNode & { source?: string; type?: string },
    place: string,
    at: Position,
  ): Tree {
    const written = node.source ?? ''
    if (node.type === 'PLAIN' && /^(?:~|null|Null|NULL)?$/.test(written)) return null
    return this.#readScalar(written, place, at)
  }

  #readMap(node: { items: readonly MapPair[] }, path: Path, original: boolean): TreeMap {
    // No prototype, so that a key named `__proto__` is a key like any other.
    const map = Object.create(null) as Record<string, Tree>
    for (const { key, value } of node.items) {
      const at = this.#positionOf(key)
      const target = isAlias(key) ? this.#anchors.get(key.source) : key
      if (target === undefined || target === null || !isScalar(target)) {
        this.#refuse(path, at, 'a key is not a plain text', 'Write key: value.')
        continue
      }
      const name = (target as { source?: string }).source ?? ''
      if (original && key !== null && !isAlias(key) && key.anchor !== undefined) {
        this.#anchors.set(key.anchor, key)
      }
      const inner = [...path, name]
      if (name === '<<') {
        this.#refuse(path, at, 'merge keys (<<) are not supported', 'Write the keys out.')
        continue
      }
      const place = formatPath(inner)
      if (name in map) {
        const first = this.keyPositions.get(place)
        const message = `the key ${quote(name)} stands twice`
        this.#report(inner, at, message, first ? `It is first on line ${first.line}.` : null)
        continue
      }
      this.keyPositions.set(place, at)
      if (value === null) this.positions.set(place, at)
      map[name] = value === null ? null : this.read(value, inner, at, original)
    }
    return map
  }

  #positionOf(node: ParsedNode | null): Position {
    return this.#text.positionAt(node?.range[0] ?? 0)
  }

  #refuse(path: Path, at: Position, message: string, hint: string | null): void {
    this.usable = false
    this.#report(path, at, message, hint)
  }

  #report(path: Path, at: Position, message: string, hint: string | null): void {
    this.problems.push({ severity: 'error', path: formatPath(path), ...at, message, hint })
  }
}

const tagRefused = ['a YAML tag ("!...") is not supported here', 'Remove the tag.'] as const

interface MapPair {
  readonly key: ParsedNode | null
  readonly value: ParsedNode | null
}
