// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { quote, typographicFault } from '../problem.ts'
import { Scalar } from '../yaml/scalar.ts'

/** A zod schema that parses one scalar of the file, or of a flag, into a program value. */
export type Field<T> = z.ZodType<T, Scalar>

/** The result of parsing a text: a value, or a fault. */
export type Reading<T> = { readonly value: T } | Fault

export type Read<T> = (text: string, scalar: Scalar) => Reading<T>

/** What is wrong with a text, as a clause that follows a quote of it, and the remedy. */
export interface Fault {
  readonly fault: string
  readonly hint: string | null
}

/** How the reference and editors describe a field, and who may see its value. */
export interface FieldMeta {
  /** The kind of value, as readers see it: `duration`, `integer`, `text`. */
  readonly kind: string
  /** `hidden`: messages never show the text. `public`: clients see the value: no placeholders. */
  readonly privacy?: 'hidden' | 'public' | undefined
  /** JSON Schema keywords for validation in editors. */
  readonly [keyword: string]: unknown
}

/** JSON Schema key that carries the kind of a field during generation. */
export const kindKeyword = 'x-kind'

/** Creates a field from a parser. */
export function field<T>({ kind, privacy, ...json }: FieldMeta, read: Read<T>): Field<T> {
  return z
    .custom<Scalar>((value) => value instanceof Scalar)
    .transform((scalar, context): T => {
      const reading = readScalar(scalar, privacy, read)
      if ('value' in reading) return reading.value as T
      report(context, [], reading.fault, reading.hint)
      return z.NEVER
    })
    .meta({ ...json, [kindKeyword]: kind })
}

/** Reports a fault in a value, or in part of it. */
export function report(
  context: z.RefinementCtx,
  path: string[],
  message: string,
  hint: string | null = null,
): void {
  context.addIssue({ code: 'custom', path, message, params: { hint } })
}

function readScalar<T>(
  scalar: Scalar,
  privacy: FieldMeta['privacy'],
  read: Read<T>,
): Reading<T | undefined> {
  const shown = privacy === 'hidden' ? 'the value' : quote(scalar.written)
  if (privacy === 'public' && scalar.hasPlaceholder) {
    return {
      fault: `${shown} cannot hold a placeholder, because logs, metrics or headers show it`,
      hint: 'Write the text itself.',
    }
  }
  const value = scalar.reveal()
  // The placeholder's failure was already reported, so the value merely counts as missing.
  if (value === null) return { value: undefined }
  const reading = value === '' ? { fault: 'is empty', hint: null } : read(value, scalar)
  if ('value' in reading) return reading
  const once = scalar.hasPlaceholder && privacy !== 'hidden' ? ' once rendered' : ''
  const typographic = typographicFault(value)
  if (typographic !== null) return { fault: `${shown} ${typographic}`, hint: null }
  return { fault: `${shown} ${reading.fault}${once}`, hint: reading.hint }
}

/** Extends an editor's pattern to accept placeholders. */
export function orPlaceholder(pattern: string): string {
  return `^(?:${pattern}|.*\\$[{<].*)$`
}

/** A list. A single scalar counts as a list of one. */
export function list<T extends z.ZodType>(item: T, least = 0): z.ZodType<z.output<T>[]> {
  const listOfOne = (value: unknown) => (value instanceof Scalar ? [value] : value)
  return z.preprocess(listOfOne, z.array(item).min(least))
}

/** An optional field. @param usual its default, as written in a file */
export function optional<T extends z.ZodType>(field: T, usual?: string): z.ZodOptional<T> {
  const may = field.optional()
  return usual === undefined ? may : may.meta({ 'x-default': usual })
}

/** JSON Schema keyword of a key that a file may omit: what the router derives. */
export const derivedKeyword = 'x-derived'

/** A key that `completeTree` fills in before this schema applies. @param usual for the reference */
export function derived<T extends z.ZodType>(field: T, usual: string): T {
  return field.meta({ ...field.meta(), [derivedKeyword]: usual })
}
