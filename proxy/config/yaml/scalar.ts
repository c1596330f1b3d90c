// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { likelyKeys, Secret } from '../secret.ts'

/**
 * One value of the file: its written text, which is printable, and its rendered value. The value is
 * null if a placeholder failed; that was already reported.
 */
export class Scalar extends Secret<string | null> {
  /** As written in the file, with unrendered placeholders. */
  readonly written: string
  readonly hasPlaceholder: boolean

  /** @param keys likely keys in the placeholder values */
  constructor(
    written: string,
    value: string | null = written,
    hasPlaceholder = false,
    keys: readonly string[] = [],
  ) {
    super(value, written, keys)
    this.written = written
    this.hasPlaceholder = hasPlaceholder
  }
}

/** The file as a tree: YAML maps, sequences and scalars, and null for an empty node. */
export type Tree = Scalar | null | readonly Tree[] | TreeMap
export interface TreeMap {
  readonly [key: string]: Tree
}

export function isMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === 'object' && tree !== null && !isList(tree) && !(tree instanceof Scalar)
}

export function isList(tree: Tree | undefined): tree is readonly Tree[] {
  return Array.isArray(tree)
}

/** The value of a map's own key; undefined if absent or if this is no map. */
export function child(tree: Tree | undefined, key: string | number): Tree | undefined {
  if (typeof key === 'number') return isList(tree) ? tree[key] : undefined
  return isMap(tree) && Object.hasOwn(tree, key) ? tree[key] : undefined
}

const openers = /\$(\$?)(?:\{([^{}]*)\}|<([^<>]*)>|[{<])/g
export const variableName = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/**
 * Renders `${VAR}` and `$<VAR>`. `$${` and `$$<` escape `${` and `$<`; any other `$` is literal. An
 * empty variable counts as missing: otherwise, the upstream would be called without its key.
 * @returns `filledIn`: placeholder values, which are secret; `malformed`: a placeholder opens but
 * is invalid
 */
export function renderPlaceholders(
  written: string,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const missing: string[] = []
  const filledIn: string[] = []
  let malformed = false
  const value = written.replace(
    openers,
    (match: string, escape: string, braced?: string, angled?: string) => {
      if (escape !== '') return match.slice(1)
      const name = braced ?? angled ?? ''
      if (!variableName.test(name)) {
        malformed = true
        return match
      }
      const found = Object.hasOwn(environment, name) ? environment[name] : undefined
      if (found === undefined || found === '') {
        missing.push(name)
        return match
      }
      filledIn.push(found)
      return found
    },
  )
  const isRendered = !malformed && missing.length === 0
  const hasPlaceholder = !isRendered || filledIn.length > 0
  const keys = filledIn.flatMap(likelyKeys)
  const scalar = new Scalar(written, isRendered ? value : null, hasPlaceholder, keys)
  return { scalar, filledIn, missing, malformed }
}
