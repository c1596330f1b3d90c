// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { apiVersion } from './group.ts'

/*
 * The types that fields of the API have. Each begins with what the field means: it becomes `kubectl explain` and the
 * reference. An example is a value that one would really write; a field with a default needs none.
 */

/**
 * What must hold, as a sentence in which `{field}` is replaced by the name of the field. With it, the rule in CEL, of at
 * most 200 characters, by which the API server checks it.
 */
export type Rules = Readonly<Record<string, string | PlacedRules>>

interface PlacedRules {
  readonly fieldPath: string
  readonly rules: readonly string[]
}

/** Rules whose message belongs to a field below, such as `.maxReplicas`. */
export function at(fieldPath: string, ...rules: readonly string[]): PlacedRules {
  return { fieldPath, rules }
}

/** A rule as the API server takes it. */
export interface Rule {
  readonly rule: string
  readonly message: string
  readonly fieldPath?: string
}

/** The key of the API server for rules. */
export const rulesKeyword = 'x-kubernetes-validations'

/** The keyword for rules; nothing when there are none. */
export function withRules(rules: Rules = {}): { [rulesKeyword]?: readonly Rule[] } {
  const written = Object.entries(rules).flatMap(([message, given]): readonly Rule[] =>
    typeof given === 'string'
      ? [{ rule: given, message }]
      : given.rules.map((rule) => ({ rule, message, fieldPath: given.fieldPath })),
  )
  return written.length === 0 ? {} : { [rulesKeyword]: written }
}

/** The rule that a field keeps its first value. */
export function immutable(remedy: string): Rules {
  return { [`{field} must not change: ${remedy}`]: 'self == oldSelf' }
}

/** A message about a field, with its name. */
export function withName(message: string, field: string): string {
  return message.replaceAll('{field}', field)
}

/** The message for the field of a zod issue. */
export function errorOf(message: string) {
  return ({ path = [] }: { path?: readonly PropertyKey[] | undefined }) =>
    withName(message, path.findLast((key) => typeof key === 'string') ?? 'it')
}

interface Options {
  readonly example?: unknown
  readonly rules?: Rules
}

interface TextOptions extends Options {
  /** The most characters. */
  readonly max: number
  readonly min?: number
  /** What it must look like; in the syntax that RE2 and JavaScript share. */
  readonly pattern?: RegExp
  /** The sentence that a wrong text gets: `{field} must be …`. Without it, the message has only the pattern. */
  readonly must?: string
}

/** A text with bounds. */
export function text(description: string, options: TextOptions): z.ZodString {
  const { max, min = 1, pattern, must, example, rules = {} } = options
  const bounded = atMost(max, z.string().min(min))
  const meta = { description, example, maxLength: max }
  if (pattern === undefined) return bounded.meta({ ...meta, ...withRules(rules) })
  const read = portable(pattern)
  if (must === undefined) return bounded.regex(read).meta({ ...meta, ...withRules(rules) })
  const all = { [must]: matches(read), ...rules }
  return bounded.regex(read, { error: errorOf(must) }).meta({ ...meta, ...withRules(all) })
}

/** A text of so many code points at most, as the API server counts them: what it stored must be readable. */
function atMost(max: number, schema: z.ZodString): z.ZodString {
  const fits = (value: string) => value.length <= max || Array.from(value).length <= max
  return schema.refine(fits, `must be at most ${max} characters`)
}

/** For RE2, which the API server reads patterns with, white space is ASCII; for JavaScript it is more. */
function portable({ source }: RegExp): RegExp {
  return new RegExp(source.replaceAll(String.raw`\s`, String.raw`\t\n\f\r `))
}

function matches(pattern: RegExp): string {
  const quote = pattern.source.includes("'") ? '"' : "'"
  return `self.matches(r${quote}${pattern.source}${quote})`
}

/** A whole number within bounds. */
export function integer(
  description: string,
  [min, max]: readonly [min: number, max: number],
  example?: number,
): z.ZodNumber {
  return z.int().min(min).max(max).meta({ description, example })
}

/** True or false. */
export function boolean(description: string, example?: boolean): z.ZodBoolean {
  return z.boolean().meta({ description, example })
}

/** One word of a list. */
export function oneOf<const T extends readonly [string, ...string[]]>(
  description: string,
  words: T,
  example?: T[number],
  rules?: Rules,
): z.ZodEnum<{ [K in T[number]]: K }> {
  return z.enum(words).meta({ description, example, ...withRules(rules) })
}

/**
 * An object with the rules that hold between its fields. Without an example, it is shown with those of the fields that it
 * must have; where it must have none, with the first field that has one.
 */
export function object<T extends z.ZodRawShape>(
  description: string,
  shape: T,
  rules?: Rules,
  example: unknown = exampleIn(shape),
): z.ZodObject<T> {
  return z.object(shape).meta({ description, example, ...withRules(rules) })
}

function exampleIn(shape: z.ZodRawShape): object | undefined {
  const fields = Object.entries(shape).map(([name, field]) => ({
    ...{ name, example: exampleOf(field) },
    isRequired: !z.safeParse(field, undefined).success,
  }))
  const required = fields.filter(({ isRequired }) => isRequired)
  const first = fields.find(({ example }) => example !== undefined)
  const shown = required.length > 0 ? required : first ? [first] : []
  if (shown.length === 0 || shown.some(({ example }) => example === undefined)) return undefined
  return Object.fromEntries(shown.map(({ name, example }) => [name, example]))
}

/** A default shows as much as an example. */
function exampleOf(field: z.core.$ZodType): unknown {
  if (field instanceof z.ZodOptional) return exampleOf(field.unwrap())
  if (field instanceof z.ZodDefault) return field.def.defaultValue
  return z.globalRegistry.get(field)?.['example']
}

interface ListOptions extends Options {
  readonly max: number
  readonly min?: number
  /** `atomic`: the whole list has one owner; `set`: scalars; or the keys that identify its items. */
  readonly kind: 'atomic' | 'set' | readonly [string, ...string[]]
}

/** A list with bounds, of a kind that server-side apply can merge. Without an example, it is shown with that of its item. */
export function list<T extends z.ZodType>(
  description: string,
  item: T,
  { max, min = 0, kind, rules, ...options }: ListOptions,
): z.ZodArray<T> {
  const merge =
    typeof kind === 'string'
      ? { 'x-kubernetes-list-type': kind }
      : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': kind }
  const bounded = z.array(item).max(max)
  const ofItem = exampleOf(item)
  const { example = ofItem === undefined ? undefined : [ofItem] } = options
  const meta = { description, example, ...merge, ...withRules(rules) }
  return (min === 0 ? bounded : bounded.min(min)).meta(meta)
}

interface MapOptions extends Options {
  /** The most keys. */
  readonly max: number
  /**
   * What is wrong with a key; null when nothing is. CEL cannot judge keys: they have no bound, so that a rule would cost too
   * much.
   */
  readonly keyFault?: (key: string) => string | null
}

/** A map with so many keys at most. */
export function mapOf<V extends z.ZodType>(
  description: string,
  value: V,
  { max, keyFault = () => null, example, rules }: MapOptions,
): z.ZodRecord<z.ZodString, V> {
  return z
    .record(z.string(), value)
    .refine((map) => Object.keys(map).length <= max, `must have at most ${max} keys`)
    .superRefine((map, context) => {
      for (const fault of Object.keys(map).map(keyFault))
        if (fault !== null) context.addIssue(fault)
    })
    .meta({ description, example, maxProperties: max, ...withRules(rules) })
}

/** A map of texts, such as labels. */
export function textMap(
  description: string,
  { maxValueLength, ...options }: MapOptions & { readonly maxValueLength: number },
): z.ZodRecord<z.ZodString, z.ZodString> {
  const meta = { description: 'The value of the key.', maxLength: maxValueLength }
  return mapOf(description, atMost(maxValueLength, z.string()).meta(meta), options)
}

const ownerReference = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
  blockOwnerDeletion: z.boolean().optional(),
})

/** What we read of the metadata of an object. The API server has its own schema for it. */
const objectMeta = z.object({
  name: z.string(),
  namespace: z.string().default('default'),
  uid: z.string().default(''),
  resourceVersion: z.string().optional(),
  generation: z.int().default(0),
  /** RFC 3339. */
  creationTimestamp: z.string().optional(),
  /** RFC 3339. */
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  ownerReferences: z.array(ownerReference).optional(),
})

/** A kind of ours: what its objects are made of. */
export function kindSchema<
  const Kind extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
>(kind: Kind, description: string, spec: Spec, status: Status, rules: Rules) {
  return z
    .object({
      apiVersion: z.literal(apiVersion),
      kind: z.literal(kind),
      metadata: objectMeta,
      spec,
      status: status.optional(),
    })
    .meta({ description, ...withRules(rules) })
}
