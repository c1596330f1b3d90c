// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'

/** How long a text is by the bounds of the API: in code points, where JavaScript counts halves of some of them. */
function textLength(text: string): number {
  return Array.from(text).length
}

/** What every field says of itself: it becomes `kubectl explain` and the reference. */
export interface About {
  /** One or more sentences. */
  readonly description: string
  /** A value that one would really write; required for what is written by people. */
  readonly example?: unknown
}

/** A rule in CEL that the API server checks. */
export interface Rule {
  /** At most 200 characters. */
  readonly rule: string
  /** What must hold, in words. */
  readonly message: string
  /** The field below to which the message belongs, such as `.maxReplicas`. */
  readonly fieldPath?: string
}

/** The key of the API server for rules. */
export const rulesKeyword = 'x-kubernetes-validations'

interface TextOptions extends About {
  /** The most characters. */
  readonly max: number
  readonly min?: number
  /** What it must look like; in the syntax that RE2 and JavaScript share. */
  readonly pattern?: RegExp
  /** The sentence that a wrong text gets: `chainId must be …`. Without it, only the pattern itself is told. */
  readonly must?: string
  readonly rules?: readonly Rule[]
}

/** A text with bounds. */
export function text({
  max,
  min = 1,
  pattern,
  must,
  rules = [],
  ...about
}: TextOptions): z.ZodString {
  const bounded = atMost(max, z.string().min(min))
  const meta = { ...about, maxLength: max }
  if (pattern === undefined) return bounded.meta({ ...meta, ...withRules(rules) })
  const read = portable(pattern)
  const all = must === undefined ? rules : [{ rule: matches(read), message: must }, ...rules]
  return bounded.regex(read, must).meta({ ...meta, ...withRules(all) })
}

/** A text of so many characters at most, as the API server counts them: what it stored must be readable. */
function atMost(max: number, schema: z.ZodString): z.ZodString {
  const fits = (value: string) => value.length <= max || textLength(value) <= max
  return schema.refine(fits, `must be at most ${max} characters`)
}

/** A map with so many keys at most. */
export function mapOf<V extends z.ZodType>(
  value: V,
  { max, rules = [], ...about }: MapOptions,
): z.ZodRecord<z.ZodString, V> {
  return z
    .record(z.string(), value)
    .refine((map) => Object.keys(map).length <= max, `must have at most ${max} keys`)
    .meta({ ...about, maxProperties: max, ...withRules(rules) })
}

/** For RE2, which the API server reads patterns with, white space is ASCII; for JavaScript it is more. */
function portable({ source }: RegExp): RegExp {
  return new RegExp(source.replaceAll(String.raw`\s`, String.raw`\t\n\f\r `))
}

function matches(pattern: RegExp): string {
  const quote = pattern.source.includes("'") ? '"' : "'"
  return `self.matches(r${quote}${pattern.source}${quote})`
}

/** The keyword for rules; nothing when there are none. */
export function withRules(rules: readonly Rule[]): Record<string, unknown> {
  return rules.length === 0 ? {} : { [rulesKeyword]: rules }
}

/** The rule that a field keeps its first value. */
export function immutable(name: string, remedy: string): Rule {
  return { rule: 'self == oldSelf', message: `${name} must not change: ${remedy}` }
}

interface IntegerOptions extends About {
  readonly min: number
  readonly max: number
}

/** A whole number with bounds. */
export function integer({ min, max, ...about }: IntegerOptions): z.ZodNumber {
  return z
    .int()
    .min(min)
    .max(max)
    .meta({ ...about })
}

/** True or false. */
export function boolean(about: About): z.ZodBoolean {
  return z.boolean().meta({ ...about })
}

/** One word of a list. */
export function oneOf<const T extends readonly [string, ...string[]]>(
  words: T,
  { rules = [], ...about }: About & { readonly rules?: readonly Rule[] },
): z.ZodEnum<{ [K in T[number]]: K }> {
  return z.enum(words).meta({ ...about, ...withRules(rules) })
}

interface ObjectOptions extends About {
  readonly rules?: readonly Rule[]
}

/** An object with the rules that hold between its fields. */
export function object<T extends z.ZodRawShape>(
  shape: T,
  { rules = [], ...about }: ObjectOptions,
): z.ZodObject<T> {
  return z.object(shape).meta({ ...about, ...withRules(rules) })
}

interface ListOptions extends About {
  readonly max: number
  readonly min?: number
  /** `atomic`: the whole list has one owner; `set`: scalars; or the keys that tell its items apart. */
  readonly kind: 'atomic' | 'set' | readonly [string, ...string[]]
  readonly rules?: readonly Rule[]
}

/** A list with bounds, of a kind that server-side apply can merge. */
export function list<T extends z.ZodType>(
  item: T,
  { max, min = 0, kind, rules = [], ...about }: ListOptions,
): z.ZodArray<T> {
  const merge =
    typeof kind === 'string'
      ? { 'x-kubernetes-list-type': kind }
      : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': kind }
  const bounded = z.array(item).max(max)
  return (min === 0 ? bounded : bounded.min(min)).meta({ ...about, ...merge, ...withRules(rules) })
}

interface MapOptions extends About {
  readonly max: number
  readonly rules?: readonly Rule[]
}

interface TextMapOptions extends MapOptions {
  readonly maxValueLength: number
}

/** A map of texts, such as labels. */
export function textMap({
  maxValueLength,
  ...options
}: TextMapOptions): z.ZodRecord<z.ZodString, z.ZodString> {
  const value = atMost(maxValueLength, z.string()).meta({
    description: 'The value of the key.',
    maxLength: maxValueLength,
  })
  return mapOf(value, options)
}
