// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join } from 'node:path'
import { describe } from 'vitest'
import { testGoldenFiles } from '../testing/golden-files.ts'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { type YamlMap, canonicalYaml } from './config-text.ts'
import { configFile } from './object-names.ts'
import type { SecretKey } from './reference-data.ts'
import type { RenderedConfig } from './rendered-config.ts'
import { type Translation, violationText } from './translation.ts'
import { type Violation } from './violations.ts'

/** Converts a translation to the form of golden files. */
function goldenOf(translation: Translation): YamlMap {
  const { config, refusals, unresolvedRefs, notes, providers, endpoints } = translation
  return {
    applied: config !== null,
    refusals: some(refusals.map(violation)),
    unresolvedRefs: some(unresolvedRefs.map(violation)),
    notes: some(notes),
    providers: Object.fromEntries(
      providers.map(({ provider, isUsed, refusals: own, unresolvedRefs: missing }) => {
        const usage = isUsed ? 'used' : 'excluded'
        const why = [...own, ...missing].map(violation)
        return [provider, why.length === 0 ? usage : { usage, why }]
      }),
    ),
    endpoints: Object.fromEntries(
      endpoints.map(({ endpoint, upstreams, served }) => [
        endpoint.name,
        served ? upstreams : 'closed',
      ]),
    ),
    ...(config !== null && goldenConfig(config)),
  }
}

function violation(each: Violation): string {
  return `${each.reason}: ${violationText(each)}`
}

function goldenConfig({ variables, environment, files, data }: RenderedConfig): YamlMap {
  const { [configFile]: config = '', ...copies } = data
  return {
    variables: someKeys(variables.map(({ name, secret }) => [name, keyText(secret)])),
    environment: someKeys(environment.map(({ name, value }) => [name, value])),
    files: someKeys(files.map(({ path, secret }) => [path, keyText(secret)])),
    copies: someKeys(Object.entries(copies)),
    [configFile]: config,
  }
}

function keyText({ name, key }: SecretKey): string {
  return `${name}/${key}`
}

function some(items: readonly string[]): readonly string[] | undefined {
  return items.length === 0 ? undefined : items
}

function someKeys(entries: readonly (readonly [string, string])[]): YamlMap | undefined {
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

describe('the router config of objects', () => {
  testGoldenFiles(join(import.meta.dirname, 'testdata'), (input) =>
    canonicalYaml(goldenOf(translateScenario(readScenario(input)))),
  )
})
