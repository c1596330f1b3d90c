// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { configJsonSchema, type JsonSchema } from './json-schema.ts'
import { settingNames } from './settings.ts'

function properties(schema: JsonSchema): readonly (readonly [name: string, schema: JsonSchema])[] {
  const own = Object.entries(schema.properties ?? {})
  const inner = [...own.map(([, property]) => property), ...(schema.items ? [schema.items] : [])]
  return [...own, ...inner.flatMap(properties)]
}

test('every key has a description, and no private keyword remains', () => {
  const schema = configJsonSchema()
  for (const [name, property] of properties(schema)) {
    expect(property.description, name).toMatch(/\.$/)
  }
  expect(JSON.stringify(schema)).not.toContain('"x-')
})

test('the top level has a key for every setting', () => {
  const keys = Object.keys(configJsonSchema().properties ?? {})
  expect(keys).toEqual(expect.arrayContaining([...settingNames, 'endpoints', 'direct-rpc']))
})
