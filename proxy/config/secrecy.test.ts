// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createRedactor } from '../upstream/secrets/mask.ts'
import { minimal, parse } from './config-text.fixture.ts'
import { configJsonSchema, type JsonSchema } from './json-schema.ts'

const canary = 'canary-5f3c9e'
const environment = { CANARY: canary, LINE: `${canary}\n`, USER: `me:${canary}` }

/** A config with a canary in place of every secret. */
const secretive = minimal.replace(
  '- url: https://one.example.com/v1',
  `- url: https://me:\${CANARY}@one.example.com/\${CANARY}?key=$<CANARY>
        auth-config:
          auth-headers: {X-Key: "\${CANARY}", Authorization2: Bearer $<CANARY>}
          auth-query: {k: "\${CANARY}"}
      - url: https://\${USER}@\${CANARY}.example.com/
        auth-config: {auth-query: "k=\${CANARY}"}
      - url: \${SCHEME}://\${CANARY}`,
)

/** Functions that insert a text at each value of a file, derived from its schema. */
function settersOf(schema: JsonSchema): readonly ((text: string) => unknown)[] {
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([key, property]) =>
      settersOf(property).map((set) => (text: string) => ({ [key]: set(text) })),
    )
  }
  if (schema.items !== undefined) return settersOf(schema.items).map((set) => (text) => [set(text)])
  return [(text) => text, (text) => [text], (text) => ({ [`x-${text.length}`]: text })]
}

function everythingPrinted(value: unknown): string {
  return [
    JSON.stringify(value),
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    inspect(value, { depth: Number.POSITIVE_INFINITY, customInspect: false }),
    String(value),
  ].join('\n')
}

test('a config that contains secrets can be printed whole', () => {
  const parsed = parse(secretive, { ...environment, SCHEME: 'https' })
  expect(parsed.problems).toEqual([])
  expect(everythingPrinted(parsed)).not.toContain(canary)
  expect(everythingPrinted(parsed.config)).not.toContain(canary)
  expect(String(parsed.config?.upstreams[0]?.nodeUrls[0]?.url)).toBe('https://one.example.com')
})

test('the redactor knows every value that must not be printed', () => {
  const parsed = parse(secretive, { ...environment, SCHEME: 'https' })
  const redact = createRedactor(parsed.hidden())
  for (const { url, authHeaders, authQuery } of parsed.config?.upstreams[0]?.nodeUrls ?? []) {
    const wire = [url, ...authHeaders.values(), ...authQuery.values()].map((secret) =>
      secret.reveal(),
    )
    expect(redact(wire.join(' '))).not.toContain(canary)
  }
})

test('the redactor also knows keys written in the file', () => {
  const text = minimal.replace(
    'https://one.example.com/v1',
    'https://me:open-sesame@one.example.com/v2/0123456789abcdef?k=query-secret',
  )
  const redact = createRedactor(parse(text).hidden())
  const log = 'open-sesame 0123456789abcdef query-secret'
  expect(redact(log)).toBe('[redacted] [redacted] [redacted]')
})

test.each([
  '${CANARY}',
  'https://${CANARY}',
  '${LINE}',
  'a${CANARY}:1',
  '$<CANARY>${MISSING}',
  '${CANARY',
])('%s at any key is never printed', (text) => {
  for (const set of settersOf(configJsonSchema())) {
    const parsed = parse(JSON.stringify(set(text)), environment)
    expect(everythingPrinted(parsed)).not.toContain(canary)
  }
})

test('a public value refuses a placeholder, though the rest of the file is valid', () => {
  for (const [key, value] of [
    ['name', 'one'],
    ['chain-id', 'ETH1'],
    ['api-interface', 'jsonrpc'],
  ]) {
    const text = minimal.replaceAll(`${key}: ${value}`, `${key}: \${V}`)
    const { config, problems } = parse(text, { V: String(value) })
    expect(config).toBeNull()
    expect(problems[0]?.message).toContain('cannot hold a placeholder')
  }
})
