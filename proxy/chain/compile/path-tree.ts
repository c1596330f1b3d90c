// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { decoded } from '../../config/secret.ts'
interface Node<Value> {
  readonly literals: Map<string, Node<Value>>
  parameter: Node<Value> | null
  /** Parameters that match one or more segments. */
  readonly wildcards: { readonly after: readonly string[]; readonly value: Value }[]
  value: Value | null
}

/** Path patterns such as `/blocks/{height}`. Literal segments take precedence over parameters. */
export class PathTree<Value> {
  readonly #root: Node<Value> = emptyNode()

  add(pattern: string, value: Value): void {
    let node = this.#root
    const segments = segmentsOf(pattern)
    for (const [at, segment] of segments.entries()) {
      if (isWildcard(segment)) {
        // Longer suffixes come first: `{denom=**}/total` before `{denom=**}`.
        node.wildcards.push({ after: segments.slice(at + 1), value })
        node.wildcards.sort((one, other) => other.after.length - one.after.length)
        return
      }
      if (isParameter(segment)) node = node.parameter ??= emptyNode()
      else {
        const next = node.literals.get(segment) ?? emptyNode()
        node.literals.set(segment, next)
        node = next
      }
    }
    node.value ??= value
  }

  /** Returns the value of the pattern that a path matches, and the segments of the path. */
  find(path: string): { readonly value: Value; readonly segments: readonly string[] } | null {
    const segments = segmentsOf(path)
    const value = walk(this.#root, segments, 0)
    return value === null ? null : { value, segments }
  }
}

function emptyNode<Value>(): Node<Value> {
  return { literals: new Map(), parameter: null, wildcards: [], value: null }
}

/** Segments as nodes see them: decoded once, without empty ones (`//`, `/./`, trailing slash). */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return path.includes('%') ? segments.map(decoded) : segments
}

/** Control characters, and separators that servers may drop, merge, or decode once or twice. */
const ambiguousPath = /\/\.?\/|\/\.$|[;\\]|%(?:[01]|2[5f]|3b|5c|7f|c[01])/i

/** Whether servers may split a path into different segments. */
export function isAmbiguousPath(path: string): boolean {
  return ambiguousPath.test(path)
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}')
}

export function isWildcard(segment: string): boolean {
  return isParameter(segment) && segment.endsWith('=**}')
}

function walk<Value>(node: Node<Value>, segments: readonly string[], at: number): Value | null {
  const segment = segments[at]
  if (segment === undefined) return node.value
  const literal = node.literals.get(segment)
  const found = literal === undefined ? null : walk(literal, segments, at + 1)
  if (found !== null) return found
  const byParameter = node.parameter === null ? null : walk(node.parameter, segments, at + 1)
  if (byParameter !== null) return byParameter
  for (const { after, value } of node.wildcards) {
    const first = segments.length - after.length
    if (first > at && after.every((literal, index) => segments[first + index] === literal))
      return value
  }
  return null
}
