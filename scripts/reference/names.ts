// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parse } from 'yaml'
import {
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../operator/api/crd/definition.ts'
import { settingSources } from '../../operator/translate/router-settings.ts'
import { annotatedSchema } from '../../proxy/config/json-schema.ts'
import { fillIn } from '../generate/fill-in.ts'
import { projectText } from '../law/project-files.ts'
import { tableRow, words } from './chains/table.ts'

type Surface = 'config' | 'field' | 'header' | 'metric' | 'log'
type Names = Partial<Readonly<Record<Surface, string>>>
interface Table {
  readonly sections: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string | null>>
  readonly concepts: Readonly<Record<string, Names>>
  readonly 'second-words': Readonly<Record<string, string>>
  readonly differences: Readonly<Record<string, readonly string[]>>
}
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** The part of the vocabulary that no other source has. */
export const table = parse(projectText('scripts/reference/names.yml')) as Table

/** Every path below a schema, such as `endpoints[].chain-id`. */
function pathsOf(schema: Schema, above = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const isList = property.items?.properties !== undefined
    const path = `${above}${name}${isList ? '[]' : ''}`
    return [path, ...pathsOf(isList ? property.items : property, `${path}.`)]
  })
}

export const configKeys = pathsOf(annotatedSchema())
export const fields = [rpcRouterDefinition(), upstreamProviderDefinition()].flatMap(({ spec }) =>
  pathsOf(spec.versions[0].schema.openAPIV3Schema).map((path) => `${spec.names.kind} ${path}`),
)

/** The letters of a name, which are the same for `chain-id`, `chain_id` and `chainId`. */
export const letters = (name: string) => name.replaceAll(/[^a-z\d.]/gi, '').toLowerCase()

const sections = Object.entries(table.sections).toSorted(([a], [b]) => b.length - a.length)

/** The field of a resource for a key of the config; null without one, undefined if unknown. */
export function fieldOf(key: string): string | null | undefined {
  if (key in table.fields) return table.fields[key]
  // They are those of the router.
  if (key.startsWith('endpoints[].relay.')) return null
  const setting = settingSources.find((source) => source.key === key)
  if (setting) return `RpcRouter ${setting.field}`
  const [section, place] = sections.find(([start]) => key.startsWith(`${start}.`)) ?? []
  if (section === undefined) return null
  const wanted = letters(`${place}${key.slice(section.length)}`)
  return fields.find((field) => letters(field) === wanted)
}

/** Why a name differs from the others of its concept; undefined if it must not. */
export function reasonOf(name: string): string | undefined {
  return Object.entries(table.differences).find(([, names]) => names.includes(name))?.[0]
}

/** `docs/reference/names.md`. */
export function render(): string {
  const code = (name = '') => (name === '' ? '' : words([name]))
  const keys = configKeys.flatMap((key) => {
    const field = fieldOf(key)
    return field ? [tableRow([code(key), code(field), reasonOf(key) ?? ''])] : []
  })
  const concepts = Object.entries(table.concepts).map(([concept, names]) =>
    tableRow([
      concept,
      ...(['config', 'header', 'metric', 'log'] as const).map((at) => code(names[at])),
    ]),
  )
  return fillIn('docs/reference/names.md', {
    settings: ['| Key | Field | Why they differ |', '|---|---|---|', ...keys],
    calls: ['| Word | Key | Header | Metric | Log |', '|---|---|---|---|---|', ...concepts],
  })
}
