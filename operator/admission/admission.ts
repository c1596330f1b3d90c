// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CustomResourceDefinition } from '../api/crd/definition.ts'
import { RuleBook } from './cel.ts'
import { defaulted } from './defaulted.ts'
import { type Fault, isMap, type Json, type JsonMap } from './fault.ts'
import { listFaults } from './list-faults.ts'
import { ruleFaults } from './rule-faults.ts'
import { schemaFaults } from './schema-faults.ts'
import { unknownFields } from './unknown-fields.ts'

/** What becomes of a new object that kubectl gives to the API server. */
export interface Admitted {
  /** As it would be stored. */
  readonly object: JsonMap
  /** Why it would be refused, each in a line: `spec.endpoints: ports must be …`. */
  readonly faults: readonly string[]
}

/**
 * Does with new objects what an API server does by a CustomResourceDefinition, without one: unknown fields, defaults, types
 * and bounds, items that must differ, rules in CEL.
 */
export class Admission {
  readonly #definition: CustomResourceDefinition
  readonly #rules = new RuleBook()

  constructor(definition: CustomResourceDefinition) {
    this.#definition = definition
  }

  admit(given: JsonMap): Admitted {
    const schema = this.#definition.spec.versions[0].schema.openAPIV3Schema
    const { status: _, ...written } = given
    const unknown = unknownFields(schema, { ...given, metadata: {} })
    if (unknown.length > 0)
      return { object: given, faults: unknown.map((path) => `unknown field "${path}"`) }
    const object = defaulted(schema, written) as JsonMap
    const root = { path: '', schema, value: object }
    const faults = [
      ...schemaFaults('', schema, object),
      ...this.#scaleFaults(object),
      ...listFaults(root),
    ]
    const all = faults.some(({ blocks }) => blocks)
      ? faults
      : [...faults, ...ruleFaults(this.#rules, root)]
    return { object, faults: all.map(lineOf) }
  }

  /** The API server judges what it scales by, beside the schema. */
  #scaleFaults(object: JsonMap): readonly Fault[] {
    const path = this.#definition.spec.versions[0].subresources.scale?.specReplicasPath
    const names = path?.split('.').slice(1) ?? []
    const replicas = names.reduce<Json | undefined>(
      (value, name) => (isMap(value) ? value[name] : undefined),
      object,
    )
    if (path === undefined || typeof replicas !== 'number' || replicas >= 0) return []
    return [{ path, message: 'should be a non-negative integer', blocks: false }]
  }
}

function lineOf({ path, message }: Fault): string {
  return path === '' ? message : `${path}: ${message}`
}
