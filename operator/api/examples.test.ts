// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import { expect, test } from 'vitest'
import { rpcRouterSchema } from './rpc-router.ts'
import { upstreamProviderSchema } from './upstream-provider.ts'

interface Example {
  readonly path: string
  readonly schema: z.ZodType
  readonly example: unknown
}

function examplesBelow(path: string, schema: z.ZodType): readonly Example[] {
  const values = [
    schema.meta()?.['example'],
    schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined,
  ]
  return [
    ...values
      .filter((example) => example !== undefined)
      .map((example) => ({ path, schema, example })),
    ...innerSchemas(schema).flatMap(([name, inner]) => examplesBelow(path + name, inner)),
  ]
}

function innerSchemas(schema: z.ZodType): readonly (readonly [string, z.ZodType])[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return [['', schema.unwrap() as z.ZodType]]
  if (schema instanceof z.ZodPrefault) return [['', schema.unwrap() as z.ZodType]]
  if (schema instanceof z.ZodArray) return [['[]', schema.element as z.ZodType]]
  if (schema instanceof z.ZodRecord) return [['{}', schema.valueType as z.ZodType]]
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(
    ([name, field]) => [`.${name}`, field] as const,
  )
}

const examples = [
  ...examplesBelow('RpcRouter', rpcRouterSchema),
  ...examplesBelow('UpstreamProvider', upstreamProviderSchema),
]

test('examples and defaults exist', () => {
  expect(examples.length).toBeGreaterThan(150)
})

test.each(examples.map(({ path, ...rest }) => [path, rest] as const))(
  'the example of %s is valid',
  (_, { schema, example }) => {
    expect(schema.safeParse(example).error?.message).toBeUndefined()
  },
)
