// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { type Rule, rulesKeyword } from '../field.ts'
import { rpcRouterSchema } from '../rpc-router.ts'
import { upstreamProviderSchema } from '../upstream-provider.ts'

interface Schema {
  readonly description?: string
  readonly example?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly [rulesKeyword]?: readonly Rule[]
}

/** A field with the name of a Secret or ConfigMap that the operator reads. */
export interface ReferenceField {
  readonly kind: 'RpcRouter' | 'UpstreamProvider'
  /** Path such as `.spec.tracing.headers[].valueFrom.secretKeyRef.name`. */
  readonly path: string
  readonly refersTo: 'Secret' | 'ConfigMap'
  /** The smallest valid spec with this field. */
  specWith(name: string): Readonly<Record<string, unknown>>
}

/** Keys of the Secrets and ConfigMaps in these specs. */
export const referencedKeys = [
  ...['apiKey', 'username', 'password', 'tls.crt', 'tls.key', 'ca.crt', 'ourchain.yml'],
]

/** Placeholder for the referenced name. */
const standIn = 'the-name'

/** Fields that the operator passes on to the kubelet. */
const ofKubelet = /^\.spec\.pod\./

const kinds = [
  ['RpcRouter', rpcRouterSchema],
  ['UpstreamProvider', upstreamProviderSchema],
] as const

const specOf = (schema: z.ZodType): Schema =>
  (z.toJSONSchema(schema, { io: 'input' }) as Schema).properties?.['spec'] ?? {}

/** Every such field, found in the schemas that the CRDs are made from. */
export const referenceFields: readonly ReferenceField[] = kinds.flatMap(([kind, schema]) =>
  fieldsBelow(specOf(schema), '.spec', (spec) => spec)
    .filter(({ path }) => !ofKubelet.test(path))
    .map((field) => ({ kind, ...field })),
)

/** Every path that, by its name, looks like a reference to a Secret or ConfigMap. */
export const referencePlaces: readonly string[] = kinds.flatMap(([kind, schema]) =>
  pathsBelow(specOf(schema), '.spec')
    .filter((path) => /(?:secret\w*|configMap\w*|valueFrom)$/i.test(path) && !ofKubelet.test(path))
    .map((path) => `${kind} ${path}`),
)

function pathsBelow(schema: Schema, path: string): readonly string[] {
  return [
    path,
    ...(schema.items ? pathsBelow(schema.items, `${path}[]`) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      pathsBelow(inner, `${path}.${name}`),
    ),
  ]
}

/** @param wrap inserts a value of this schema into a spec */
function fieldsBelow(
  schema: Schema,
  path: string,
  wrap: (value: unknown) => unknown,
): readonly Omit<ReferenceField, 'kind'>[] {
  const [, refersTo] = /^Name of the (Secret|ConfigMap)\b/.exec(schema.description ?? '') ?? []
  if (refersTo !== undefined) {
    const text = JSON.stringify(wrap(standIn))
    const specWith = (name: string) => {
      // Example URLs use a variable that only some specs define.
      const whole = text.includes('"variables"') ? text : text.replaceAll('${API_KEY}', 'key')
      return JSON.parse(whole.replaceAll(`"${standIn}"`, `"${name}"`))
    }
    return [{ path, refersTo: refersTo as ReferenceField['refersTo'], specWith }]
  }
  if (schema.items) return fieldsBelow(schema.items, `${path}[]`, (value) => wrap([value]))
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    fieldsBelow(inner, `${path}.${name}`, (value) =>
      wrap({ ...neededBeside(schema, name), [name]: value }),
    ),
  )
}

/** Returns the other fields that schema and rules require next to this one. */
function neededBeside(
  { properties = {}, required = [], [rulesKeyword]: rules = [] }: Schema,
  name: string,
): object {
  const examples = required.map((each) => [each, exampleOf(properties[each])] as const)
  const demanded = rules.flatMap(({ rule }): readonly (readonly [string, unknown])[] => {
    const [, type = '', value, field] =
      /^\(self\.(\w+) == '(\w+)'\) == has\(self\.(\w+)\)$/.exec(rule) ?? []
    if (field === name) return [[type, value]]
    const [, present, other = ''] = /^!has\(self\.(\w+)\) \|\| has\(self\.(\w+)\)$/.exec(rule) ?? []
    const example = exampleOf(properties[other])
    return present === name ? [[other, { ...(example as object), name: standIn }]] : []
  })
  return Object.fromEntries([...examples, ...demanded])
}

function exampleOf({
  example,
  default: usual,
  properties = {},
  required = [],
}: Schema = {}): unknown {
  return (
    example ??
    usual ??
    Object.fromEntries(required.map((name) => [name, exampleOf(properties[name])]))
  )
}
