// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rpcRouterDefinition } from '../api/crd/rpc-router.ts'
import { upstreamProviderDefinition } from '../api/crd/upstream-provider.ts'
import { rpcRouterSchema } from '../api/rpc-router.ts'
import { upstreamProviderSchema } from '../api/upstream-provider.ts'
import { Admission } from './admission.ts'
import { defaulted } from './defaulted.ts'
import type { Json } from './fault.ts'
import { schemaFaults } from './schema-faults.ts'
import { SchemaValues, withPatterns } from './testing/from-schema.ts'

/*
 * What the API server stores, the operator must be able to read, and what it refuses, nobody may come to rely on. The
 * objects are made of the schema of the CustomResourceDefinition alone.
 */

describe.each([
  ['RpcRouter', rpcRouterDefinition(), rpcRouterSchema],
  ['UpstreamProvider', upstreamProviderDefinition(), upstreamProviderSchema],
])('%s', (kind, definition, zod) => {
  const { properties = {} } = definition.spec.versions[0].schema.openAPIV3Schema
  const schema = withPatterns(properties['spec'] ?? {})
  const object = (spec: Json) => ({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind,
    metadata: { name: 'a' },
    spec,
  })
  const values = new SchemaValues()
  const specs = values.within(schema)

  test('zod takes what the bounds of the CustomResourceDefinition take', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        expect(schemaFaults('spec', schema, spec)).toEqual([])
        expect(zod.safeParse(object(spec)).error?.issues ?? []).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  test('with one odd value, either both take it or both refuse it', () => {
    fc.assert(
      fc.property(
        specs.chain((spec) => values.spoiled(schema, spec)),
        (given) => {
          const spec = defaulted(schema, given)
          const issues = zod.safeParse(object(spec)).error?.issues ?? []
          const faults = schemaFaults('spec', schema, spec)
          expect({ issues: issues.length > 0, faults: [] }).toEqual({
            issues: faults.length > 0,
            faults: issues.length > 0 ? [] : faults,
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  test('zod takes what passes all rules as well', () => {
    const admission = new Admission(definition)
    fc.assert(
      fc.property(
        specs.chain((spec) => values.spoiled(schema, spec)),
        (spec) => {
          const { object: stored, faults } = admission.admit(object(spec))
          if (faults.length > 0) return
          expect(zod.safeParse(stored).error?.issues ?? []).toEqual([])
        },
      ),
      { numRuns: 300 },
    )
  })
})
