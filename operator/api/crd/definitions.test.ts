// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { annotatedSchema, type JsonSchema } from '../../../proxy/config/json-schema.ts'
import { rulesKeyword } from '../field.ts'
import { rpcRouterDefinition, upstreamProviderDefinition } from './definition.ts'
import type { StructuralSchema } from './structural-schema.ts'

interface SchemaNode {
  readonly path: string
  readonly schema: StructuralSchema
}

/** Returns a schema and all nested schemas, with their paths. */
function nodesBelow(path: string, schema: StructuralSchema): readonly SchemaNode[] {
  return [
    { path, schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      path === '' && name === 'metadata' ? [] : nodesBelow(`${path}.${name}`, field),
    ),
    ...(schema.items ? nodesBelow(`${path}[]`, schema.items) : []),
    ...(schema.additionalProperties ? nodesBelow(`${path}{}`, schema.additionalProperties) : []),
  ]
}

const definitions = [rpcRouterDefinition(), upstreamProviderDefinition()]

describe.each(definitions.map((definition) => [definition.spec.names.kind, definition] as const))(
  '%s',
  (_, definition) => {
    const { schema } = definition.spec.versions[0]
    const nodes = nodesBelow('', schema.openAPIV3Schema)
    const pathsWhere = (holds: (schema: StructuralSchema) => boolean): readonly string[] =>
      nodes.filter((node) => holds(node.schema)).map((node) => node.path)

    test('every field has a description', () => {
      expect(pathsWhere(({ description = '' }) => !/^[A-Za-z].*[.?]$/m.test(description))).toEqual(
        [],
      )
    })

    test('every spec field has an example or a default', () => {
      const silent = nodes.filter(
        ({ path, schema: { description = '' } }) =>
          /^\.spec[.[]/.test(path) &&
          !path.endsWith('{}') &&
          !/\n(?:Example|Default): /.test(description),
      )
      expect(silent.map(({ path }) => path)).toEqual([])
    })

    test('every string, list, number and map is bounded', () => {
      expect(pathsWhere(isUnbounded)).toEqual([])
    })

    const openPaths = [
      'tolerations[]',
      ...['nodeAffinity', 'podAffinity', 'podAntiAffinity'].map((each) => `affinity.${each}`),
      ...[
        'topologySpreadConstraints[]',
        'env[]',
        'volumes[]',
        'volumeMounts[]',
        'dnsConfig',
        'patch',
      ],
    ]
    test('only parts of a pod spec accept undescribed fields', () => {
      const open = pathsWhere((field) => field['x-kubernetes-preserve-unknown-fields'] === true)
      const wanted = openPaths.map((each) => `.spec.pod.${each}`)
      expect(open).toEqual(definition.spec.names.kind === 'RpcRouter' ? wanted : [])
    })

    test('every list has a merge strategy', () => {
      const lists = pathsWhere(
        (field) => field.type === 'array' && field['x-kubernetes-list-type'] === undefined,
      )
      expect(lists).toEqual([])
    })

    test('list map keys are required', () => {
      const loose = nodes.flatMap(({ path, schema: { items, ...list } }) =>
        (list['x-kubernetes-list-map-keys'] ?? [])
          .filter((key) => items?.required?.includes(key) !== true)
          .map((key) => `${path}.${key}`),
      )
      expect(loose).toEqual([])
    })

    test('every rule is short and has a message with must', () => {
      const rules = nodes.flatMap(({ path, schema: field }) =>
        (field[rulesKeyword] ?? []).map((rule) => ({ path, ...rule })),
      )
      expect(rules.length).toBeGreaterThan(10)
      expect(rules.filter(({ rule }) => rule.length > 200)).toEqual([])
      expect(rules.filter(({ message }) => !/\bmust\b/.test(message))).toEqual([])
    })

    test('columns, selectable fields and the scale subresource refer to existing fields', () => {
      const {
        additionalPrinterColumns,
        selectableFields = [],
        subresources,
      } = definition.spec.versions[0]
      const known = new Set(nodes.map(({ path }) => path))
      const named = [
        ...additionalPrinterColumns.map(({ jsonPath }) => jsonPath.replace(/\[\?\(.*?\)\]/, '[]')),
        ...selectableFields.map(({ jsonPath }) => jsonPath),
        ...Object.values(subresources.scale ?? {}),
      ]
      const unknown = named.filter((path) => !path.startsWith('.metadata.') && !known.has(path))
      expect(unknown).toEqual([])
    })
  },
)

function isUnbounded(schema: StructuralSchema): boolean {
  const { type, maxLength, enum: words, minimum, maximum, maxItems, maxProperties } = schema
  switch (type) {
    case 'string':
      return maxLength === undefined && words === undefined
    case 'integer':
      return minimum === undefined || maximum === undefined
    case 'array':
      return maxItems === undefined
    case 'object':
      return schema.additionalProperties !== undefined && maxProperties === undefined
    default:
      return type !== 'boolean' && schema['x-kubernetes-int-or-string'] !== true
  }
}

describe('the API accepts the same values as the router', () => {
  const router = rpcRouterDefinition().spec.versions[0].schema.openAPIV3Schema
  const spec = router.properties?.['spec']?.properties ?? {}
  const relay = spec['relay']?.properties ?? {}
  const upstreams = spec['upstreams']?.properties ?? {}
  const settings = annotatedSchema().properties ?? {}

  test.each([
    ['set-relay-retry-limit', relay['retryLimit']],
    ['max-relay-attempts', relay['maxAttempts']],
    ['max-sessions-per-provider', upstreams['maxSessionsPerProvider']],
    ['upstream-failure-threshold', upstreams['failureThreshold']],
  ])('%s has the same bounds', (name, field) => {
    const { minimum, maximum } = settings[name] as JsonSchema & StructuralSchema
    expect({ minimum: field?.minimum, maximum: field?.maximum }).toEqual({ minimum, maximum })
  })

  test.each([
    ['strategy', relay['strategy']],
    ['integrity', relay['integrity']],
    ['log-level', spec['logging']?.properties?.['level']],
    ['log-format', spec['logging']?.properties?.['format']],
  ])('%s has the same enum', (name, field) => {
    expect(field?.enum).toEqual((settings[name] as StructuralSchema).enum)
  })
})
