// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { inspect } from 'node:util'

/**
 * A single value of the file: what is written there, and its value once its placeholders are
 * rendered. Messages show what is written; only the reader of a field looks at the value.
 */
export class Scalar {
  /** As in the file, placeholders unrendered. */
  readonly written: string
  readonly hasPlaceholder: boolean
  readonly #value: string | null
  readonly #filledIn: readonly string[]

  constructor(
    written: string,
    value: string | null = written,
    hasPlaceholder = false,
    filledIn: readonly string[] = [],
  ) {
    this.written = written
    this.hasPlaceholder = hasPlaceholder
    this.#value = value
    this.#filledIn = filledIn
  }

  /** The rendered value; null when a placeholder of it could not be rendered, which is reported already. */
  reveal(): string | null {
    return this.#value
  }

  /** The values of its placeholders. Secret. */
  filledIn(): readonly string[] {
    return this.#filledIn
  }

  /** Another value that is as secret as this one, of which it is made. */
  part(value: string): Scalar {
    return new Scalar(value, value, this.hasPlaceholder, this.#filledIn)
  }

  toJSON(): string {
    return this.written
  }

  [inspect.custom](): string {
    return this.written
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

/** Matches a text that holds a placeholder: for editors that check a file by its JSON Schema. */
export const placeholderPattern = '.*\\$[{<].*'

/** What rendering one text gave. */
interface Rendering {
  readonly scalar: Scalar
  /** Variables that are not set, or set to nothing. */
  readonly missing: readonly string[]
  /** True when something opens like a placeholder and is none. */
  readonly malformed: boolean
}

/**
 * Renders `${VAR}` and `$<VAR>` in one text. `$${` and `$$<` give `${` and `$<` themselves; any other `$`
 * is just that. A variable that is empty counts as missing: an upstream would be called without its key.
 */
export function renderPlaceholders(
  written: string,
  environment: Readonly<Record<string, string | undefined>>,
): Rendering {
  const missing: string[] = []
  const values: string[] = []
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
      values.push(found)
      return found
    },
  )
  const failed = malformed || missing.length > 0
  const scalar = new Scalar(written, failed ? null : value, failed || values.length > 0, values)
  return { scalar, missing, malformed }
}
