// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parse } from 'yaml'
import {
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../operator/api/crd/definition.ts'
import { providerField, routerField } from '../../operator/translate/validate-config.ts'
import { annotatedSchema } from '../../proxy/config/json-schema.ts'
import { fillIn } from '../generate/fill-in.ts'
import { projectText } from '../law/project-files.ts'
import { tableRow, words } from './chains/table.ts'

type Surface = 'config' | 'field' | 'header' | 'metric' | 'log'
type Names = Partial<Readonly<Record<Surface, string>>>
interface Table {
  readonly 'without-field': readonly string[]
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

const redis = { field: 'spec.cache.redis', component: 'redis', settings: {} } as const

/** The field of a resource for a key of the config; null without one, undefined if unknown. */
export function fieldOf(key: string): string | null | undefined {
  // The page says that these have the fields of `relay` and of `resp-cache`.
  if (/^(?:endpoints\[\]\.relay|cache)\./.test(key) || table['without-field'].includes(key))
    return null
  const [isOfProvider, within = ''] = /^direct-rpc\[\]\.?(.*)/.exec(key) ?? []
  const field = isOfProvider
    ? `UpstreamProvider ${providerField(within)}`
    : `RpcRouter ${routerField(key.replace('endpoints[]', 'endpoints[0]'), [{ name: '' }], { main: redis, forAnswers: null })}`
  if (field.endsWith(' spec')) return null
  return fields.find((each) => each.replace(/\[\]$/, '') === field.replace(/\[\]$/, ''))
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
