// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAlias, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap } from 'yaml'
import { floatText } from './float-text.ts'
import { plainValue } from './plain-scalar.ts'
import type { YamlMap, YamlValue } from './write-yaml.ts'

/** How documents must be parsed for `jsonOfYaml`: every scalar is the text that stands in the file. */
export const parsedAsTexts = {
  version: '1.2',
  schema: 'failsafe',
  resolveKnownTags: false,
  uniqueKeys: false,
} as const

/** YAML that is no JSON, told in one sentence without any value. */
export class NoJsonError extends Error {
  readonly code = 'OP_YAML_NO_JSON'
  override readonly name = 'NoJsonError'
  /** Where it stands in the text. */
  readonly offset: number

  constructor(message: string, { range }: Node) {
    super(message)
    this.offset = range?.[0] ?? 0
  }
}

/**
 * The JSON that kubectl makes of a document, by go-yaml v2. The aliases must be bounded already.
 * @throws NoJsonError
 */
export function jsonOfYaml(contents: Node | null): YamlValue {
  return contents === null ? null : new Reading().valueOf(contents)
}

const longTag = 'tag:yaml.org,2002:'

class Reading {
  readonly #named = new Map<string, { readonly node: Node; readonly value: YamlValue }>()

  valueOf(node: Node): YamlValue {
    if (isAlias(node)) return this.#named.get(node.source)?.value ?? null
    const value = isMap(node)
      ? this.#mapOf(node)
      : isSeq(node)
        ? node.items.map((item) => this.valueOf(item as Node))
        : scalarOf(node)
    const { anchor } = node as { anchor?: string }
    if (anchor !== undefined) this.#named.set(anchor, { node, value })
    return value
  }

  #mapOf(map: YAMLMap): YamlMap {
    const entries = new Map<string, YamlValue>()
    const own = new Set<string>()
    for (const pair of map.items) {
      const key = pair.key as Node
      const value = pair.value as Node | null
      if (isMerge(key)) {
        // Over what stands before it: so has go-yaml it.
        for (const [name, each] of this.#merged(key, value)) entries.set(name, each)
        continue
      }
      const name = this.#nameOf(key)
      if (own.has(name)) throw new NoJsonError('Map keys must be unique', key)
      own.add(name)
      entries.set(name, value === null ? null : this.valueOf(value))
    }
    return Object.fromEntries(entries)
  }

  #merged(key: Node, value: Node | null): readonly (readonly [string, YamlValue])[] {
    const sources = isSeq(value) ? (value.items as readonly Node[]) : [value]
    return sources.toReversed().flatMap((source) => {
      const of = isAlias(source) ? this.#named.get(source.source)?.node : source
      if (source === null || !isMap(of))
        throw new NoJsonError('a merge (<<) takes a map, or a list of maps', key)
      return Object.entries(this.valueOf(source) as YamlMap) as [string, YamlValue][]
    })
  }

  /** A key as text: `on` is `true`. */
  #nameOf(key: Node): string {
    const node = isAlias(key) ? (this.#named.get(key.source)?.node ?? key) : key
    if (!isScalar(node)) throw new NoJsonError('a key is a list or a map, and must be a text', key)
    if (node === key && node.anchor !== undefined) this.valueOf(key)
    const value = plainOf(node)
    if (value === null) throw new NoJsonError('a key is null: put it in quotes', key)
    if (typeof value === 'bigint' && value >= 2n ** 63n)
      throw new NoJsonError('a key is too large a number: put it in quotes', key)
    return typeof value === 'number' ? floatText(value) : String(value)
  }
}

function isMerge(key: Node): boolean {
  return isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN
}

function scalarOf(node: Node): YamlValue {
  const value = isScalar(node) ? plainOf(node) : null
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new NoJsonError('a number must be finite: put a text in quotes', node)
  return value
}

/** With its tag, when it has one. Other tags than those of YAML itself mean nothing. */
function plainOf(node: Scalar) {
  const text = String(node.value)
  const tag = node.tag?.startsWith(longTag) === true ? node.tag.slice(longTag.length) : node.tag
  if (tag === undefined) return node.type === Scalar.PLAIN ? plainValue(text) : text
  if (tag === 'binary') throw new NoJsonError('the tag !!binary is not taken: use quotes', node)
  const kinds = kindsOf[tag]
  if (kinds === undefined) return text
  const value = plainValue(text)
  if (!kinds.includes(value === null ? 'null' : typeof value))
    throw new NoJsonError(`a value is not what its tag !!${tag} says`, node)
  return tag === 'float' ? Number(value) : value
}

const kindsOf: Readonly<Record<string, readonly string[]>> = {
  int: ['bigint'],
  float: ['bigint', 'number'],
  bool: ['boolean'],
  null: ['null'],
}
