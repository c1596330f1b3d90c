// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import '../../proxy/config/issue-words.ts'
import { apiVersion } from './group.ts'
import { counted } from '../../proxy/words/counted.ts'

/*
 * Types of API fields. Each takes a description for `kubectl explain` and the reference. An example
 * is a realistic value; fields with a default need none.
 */

/**
 * Validation rules by message, in which `{field}` stands for the field's name. The API server
 * evaluates each rule, in CEL of at most 200 characters.
 */
export type Rules = Readonly<Record<string, string | PlacedRules>>

interface PlacedRules {
  readonly fieldPath: string
  readonly rules: readonly string[]
}

/** Rules whose message concerns a nested field, such as `.maxReplicas`. */
export function at(fieldPath: string, ...rules: readonly string[]): PlacedRules {
  return { fieldPath, rules }
}

/** A rule as the API server expects it. */
export interface Rule {
  readonly rule: string
  readonly message: string
  readonly fieldPath?: string
}

/** The API server's keyword for rules. */
export const rulesKeyword = 'x-kubernetes-validations'

/** Converts rules to the API server's keyword; empty if there are none. */
export function withRules(rules: Rules = {}): { [rulesKeyword]?: readonly Rule[] } {
  const written = Object.entries(rules).flatMap(([message, check]): readonly Rule[] =>
    typeof check === 'string'
      ? [{ rule: check, message }]
      : check.rules.map((rule) => ({ rule, message, fieldPath: check.fieldPath })),
  )
  return written.length === 0 ? {} : { [rulesKeyword]: written }
}

/** Returns a rule that makes the field immutable. */
export function immutable(remedy: string): Rules {
  return { [`{field} must not change: ${remedy}`]: 'self == oldSelf' }
}

/** Inserts the name of a field into a message. */
export function withName(message: string, field: string): string {
  return message.replaceAll('{field}', field)
}

/** Returns a message function for zod, which inserts the field's name. */
export function errorOf(message: string) {
  return ({ path = [] }: { path?: readonly PropertyKey[] | undefined }) =>
    withName(message, path.findLast((key) => typeof key === 'string') ?? 'it')
}

interface Options {
  readonly example?: unknown
  readonly rules?: Rules
}

interface TextOptions extends Options {
  /** Maximum number of characters. */
  readonly max: number
  readonly min?: number
  /** Pattern in the syntax that RE2 and JavaScript share. */
  readonly pattern?: RegExp
  /** Message for a mismatch: `{field} must be …`. By default, the message shows the pattern. */
  readonly must?: string
}

/** A bounded string. */
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

/** Limits a string in code points, as the API server does, so that stored values stay valid. */
function atMost(max: number, schema: z.ZodString): z.ZodString {
  const fits = (value: string) => value.length <= max || Array.from(value).length <= max
  return schema.refine(fits, `must be at most ${max} characters`)
}

/** Replaces `\s`, which in the API server's RE2 matches only ASCII, but in JavaScript more. */
function portable({ source }: RegExp): RegExp {
  return new RegExp(source.replaceAll(String.raw`\s`, String.raw`\t\n\f\r `))
}

function matches(pattern: RegExp): string {
  const quote = pattern.source.includes("'") ? '"' : "'"
  return `self.matches(r${quote}${pattern.source}${quote})`
}

export function integer(
  description: string,
  [min, max]: readonly [min: number, max: number],
  example?: number,
): z.ZodNumber {
  return z.int().min(min).max(max).meta({ description, example })
}

export function boolean(description: string, example?: boolean): z.ZodBoolean {
  return z.boolean().meta({ description, example })
}

export function oneOf<const T extends readonly [string, ...string[]]>(
  description: string,
  words: T,
  example?: T[number],
  rules?: Rules,
): z.ZodEnum<{ [K in T[number]]: K }> {
  return z.enum(words).meta({ description, example, ...withRules(rules) })
}

/**
 * An object whose rules span its fields. Its default example has the required fields; if there are
 * none, the first field with an example.
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

/** Returns the example of a field or its default. */
function exampleOf(field: z.core.$ZodType): unknown {
  if (field instanceof z.ZodOptional) return exampleOf(field.unwrap())
  if (field instanceof z.ZodDefault) return field.def.defaultValue
  return z.globalRegistry.get(field)?.['example']
}

interface ListOptions extends Options {
  readonly max: number
  readonly min?: number
  /** `atomic`: one owner for the whole list; `set`: scalars; or the keys that identify an item. */
  readonly kind: 'atomic' | 'set' | readonly [string, ...string[]]
}

/** A bounded list with its merge strategy. Its default example is that of its item. */
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
  /** Maximum number of keys. */
  readonly max: number
  /**
   * Returns what is wrong with a key; null if valid. The schema does not limit keys in length, so a
   * CEL rule would exceed its cost limit.
   */
  readonly keyFault?: (key: string) => string | null
}

/** A bounded map. */
export function mapOf<V extends z.ZodType>(
  description: string,
  value: V,
  { max, keyFault = () => null, example, rules }: MapOptions,
): z.ZodRecord<z.ZodString, V> {
  return z
    .record(z.string(), value)
    .refine((map) => Object.keys(map).length <= max, `must have at most ${counted(max, 'key')}`)
    .superRefine((map, context) => {
      for (const fault of Object.keys(map).map(keyFault))
        if (fault !== null) context.addIssue(fault)
    })
    .meta({ description, example, maxProperties: max, ...withRules(rules) })
}

/** A map of strings, such as labels. */
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

/** The metadata fields that we use. The API server validates them itself. */
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

/** Schema of one of our kinds. */
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
