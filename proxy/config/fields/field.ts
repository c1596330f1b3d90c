// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { quote, typographicFault } from '../problem.ts'
import { placeholderPattern } from '../yaml/scalar.ts'
import { Scalar } from '../yaml/scalar.ts'

/** A zod schema that reads one scalar of the file, or of a flag, into a value of the program. */
export type Field<T> = z.ZodType<T, Scalar>

/** The result of reading a text: a value, or what is wrong with it. */
export type Reading<T> = { readonly value: T } | Fault

/** What is wrong with a text, as a clause that follows the text itself, and the remedy. */
export interface Fault {
  readonly fault: string
  readonly hint: string | null
}

/** How the reference and editors see a field, and how its value may be shown. */
export interface FieldMeta {
  /** For readers: `duration`, `integer`, `text`. */
  readonly kind: string
  /** Keywords of JSON Schema that an editor checks a value by. */
  readonly json: Readonly<Record<string, unknown>>
  /** `hidden`: messages never show the text. `public`: clients see the value, so no placeholder. */
  readonly privacy?: 'hidden' | 'public' | undefined
}

/** The key of a field's kind in the JSON Schema while it is being made. */
export const kindKeyword = 'x-kind'

/** The message of an issue that is reported elsewhere already: only the value is missing. */
export const alreadyReported = 'already reported'

/** The hint of an issue of ours; undefined for one of zod's own. */
export function hintOf(issue: z.core.$ZodIssue): Fault['hint'] | undefined {
  return 'params' in issue ? (issue.params as unknown as Pick<Fault, 'hint'>).hint : undefined
}

/** Makes a field of a reader. */
export function field<T>(
  meta: FieldMeta,
  read: (value: string, scalar: Scalar) => Reading<T>,
): Field<T> {
  return z
    .custom<Scalar>((value) => value instanceof Scalar)
    .transform((scalar, context): T => {
      const reading = readScalar(scalar, meta, read)
      if (reading !== null && 'value' in reading) return reading.value
      const params = { hint: reading?.hint ?? null }
      context.addIssue({ code: 'custom', message: reading?.fault ?? alreadyReported, params })
      return z.NEVER
    })
    .meta({ ...meta.json, [kindKeyword]: meta.kind })
}

function readScalar<T>(
  scalar: Scalar,
  meta: FieldMeta,
  read: (value: string, scalar: Scalar) => Reading<T>,
): Reading<T> | null {
  const shown = meta.privacy === 'hidden' ? 'the value' : quote(scalar.written)
  if (meta.privacy === 'public' && scalar.hasPlaceholder) {
    return {
      fault: `${shown} cannot hold a placeholder, for this is shown in logs, metrics or headers`,
      hint: 'Write the text itself.',
    }
  }
  const value = scalar.reveal()
  if (value === null) return null
  const reading = value === '' ? { fault: 'is empty', hint: null } : read(value, scalar)
  if ('value' in reading) return reading
  const once = scalar.hasPlaceholder && meta.privacy !== 'hidden' ? ' once rendered' : ''
  const typographic = typographicFault(value)
  if (typographic !== null) return { fault: `${shown} ${typographic}`, hint: null }
  return { fault: `${shown} ${reading.fault}${once}`, hint: reading.hint }
}

/** A pattern for editors that lets placeholders pass. */
export function orPlaceholder(pattern: string): string {
  return `^(?:${pattern}|${placeholderPattern})$`
}

/** A list; a single scalar where a list is wanted is a list of one. */
export function list<T extends z.ZodType>(item: T, least = 0): z.ZodType<z.output<T>[]> {
  return z
    .preprocess((value) => (value instanceof Scalar ? [value] : value), z.array(item).min(least))
    .meta({ [kindKeyword]: 'list' })
}
