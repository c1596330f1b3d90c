// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { likelyKeys, Secret } from '../secret.ts'

/**
 * A single value of the file: what is written there, which is its printable form, and its value once its placeholders
 * are rendered; null when one of them could not be, which is reported already.
 */
export class Scalar extends Secret<string | null> {
  /** As in the file, placeholders unrendered. */
  readonly written: string
  readonly hasPlaceholder: boolean

  /** @param keys what looks like a key in the values of its placeholders */
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

/** The file as values: what YAML calls maps, sequences and scalars, and null for "nothing here". */
export type Tree = Scalar | null | readonly Tree[] | TreeMap
export interface TreeMap {
  readonly [key: string]: Tree
}

/** True for a map, and for nothing else that an object could be. */
export function isMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === 'object' && tree !== null && !isList(tree) && !(tree instanceof Scalar)
}

export function isList(tree: Tree | undefined): tree is readonly Tree[] {
  return Array.isArray(tree)
}

/** The value of a map's own key; undefined when there is none, or when it is not a map. */
export function child(tree: Tree | undefined, key: string | number): Tree | undefined {
  if (typeof key === 'number') return isList(tree) ? tree[key] : undefined
  return isMap(tree) && Object.hasOwn(tree, key) ? tree[key] : undefined
}

const openers = /\$(\$?)(?:\{([^{}]*)\}|<([^<>]*)>|[{<])/g
/** What a variable may be called. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/**
 * Renders `${VAR}` and `$<VAR>` in one text. `$${` and `$$<` give `${` and `$<` themselves; any other `$`
 * is just that. A variable that is empty counts as missing: an upstream would be called without its key.
 * @returns `filledIn`: the values of its placeholders, which are secret; `malformed`: something opens like a placeholder
 * and is none
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
