// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Scalar } from './scalar.ts'

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
  /** Values that were filled in. Secret. */
  readonly values: readonly string[]
}

/**
 * Renders `${VAR}` and `$<VAR>` in one text. `$${` and `$$<` stand for `${` and `$<` themselves; any other `$`
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
  return { scalar, missing, malformed, values }
}
