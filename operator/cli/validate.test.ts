// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import {
  type Manifest,
  readManifests as readTable,
} from '../../e2e/kube/manifests/manifest-table.ts'
import { rpcRouterDefinition, upstreamProviderDefinition } from '../api/crd/definition.ts'
import type { StructuralSchema } from '../api/crd/structural-schema.ts'
import { rulesKeyword } from '../api/field.ts'
import { main } from './main.ts'

/*
 * Runs the tables of e2e/kube/manifests, which also run against a real API server. `validate` knows
 * no previous version of an object, and leaves CEL rules to the API server.
 */

async function validate(manifest: unknown) {
  const output: string[] = []
  const sink = { write: (text: string) => output.push(text) }
  const code = await main(['validate', '-f', '-', '-o', 'json'], {
    stdin: (async function* () {
      yield stringify(manifest)
    })(),
    stdout: sink,
    stderr: sink,
    environment: {},
  })
  const { problems } = JSON.parse(output.join('')) as { problems: readonly string[] }
  return { code, problems }
}

/** Rules that zod also checks, as the field's pattern. */
const pattern = /^(?:type\(self\) == int \? self >= 0 : )?(?:self\.matches|isQuantity)\(/

/** Returns the messages of rules that zod does not check. */
function messagesOfRules(schema: StructuralSchema): readonly string[] {
  const { items, additionalProperties, properties = {} } = schema
  const inner = [...Object.values(properties), items, additionalProperties]
  return [
    ...(schema[rulesKeyword] ?? [])
      .filter(({ rule }) => !pattern.test(rule))
      .map(({ message }) => message),
    ...inner.flatMap((each) => (each === undefined ? [] : messagesOfRules(each))),
  ]
}

describe.each([
  ['rpc-router', rpcRouterDefinition()],
  ['upstream-provider', upstreamProviderDefinition()],
])('%s', (table, definition) => {
  const messages = messagesOfRules(definition.spec.versions[0].schema.openAPIV3Schema)
  const isRuleAlone = ({ says }: Manifest) =>
    says.every((line) => messages.some((message) => line.endsWith(message)))
  const rowsOf = (manifests: readonly Manifest[]) =>
    manifests.map(({ name, manifest }) => [name, manifest] as const)

  const refused = readTable(`${table}.refused.yaml`).filter(({ before }) => before === null)
  test.each(rowsOf(refused.filter((row) => !isRuleAlone(row))))(
    'validate refuses what the API server refuses: %s',
    async (_, manifest) => {
      const { code, problems } = await validate(manifest)
      expect(problems[0]).toMatch(/^standard input: /)
      expect(code).toBe(2)
    },
  )

  const accepted = readTable(`${table}.accepted.yaml`)
  test.each(rowsOf([...accepted, ...refused.filter(isRuleAlone)]))(
    'validate finds nothing that its schema does not refuse: %s',
    async (_, manifest) => {
      const { problems } = await validate(manifest)
      // Other findings of the operator do not start with a file name.
      expect(problems.filter((problem) => problem.startsWith('standard input'))).toEqual([])
    },
  )
})
