// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { kindKeyword } from '../../proxy/config/fields/field.ts'
import { annotatedSchema, type JsonSchema } from '../../proxy/config/json-schema.ts'
import { changeOf } from '../../proxy/config/live-keys.ts'
import { settingNames, settings } from '../../proxy/config/settings.ts'
import { fillIn } from '../generate/fill-in.ts'

/** The text of `docs/reference/config.md`. */
export function render(): string {
  const schema = annotatedSchema()
  return fillIn('docs/reference/config.md', {
    sections: [...table(sectionRows(schema)), ...sections(schema, '')],
    settings: table(settingRows(schema)),
  })
}

interface Row {
  readonly name: string
  readonly kind: string
  readonly defaultText: string
  readonly change: string
  readonly meaning: string
}

function table(rows: readonly Row[]): readonly string[] {
  const line = ({ name, kind, defaultText, change, meaning }: Row): string =>
    `| ${[name, kind, defaultText, change, meaning].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [
    '| Key | Type | Default | Change | Meaning |',
    '|---|---|---|---|---|',
    ...rows.map(line),
    '',
  ]
}

function sectionRows(schema: JsonSchema): readonly Row[] {
  const names = Object.keys(schema.properties ?? {}).filter((name) => !(name in settings))
  return names.map((name) => rowOf(schema, name, ''))
}

function settingRows(schema: JsonSchema): readonly Row[] {
  return settingNames.map((name) => {
    const row = rowOf(schema, name, '')
    const { variable } = settings[name]
    return variable === null
      ? row
      : { ...row, meaning: `${row.meaning} Variable: \`${variable}\`.` }
  })
}

function rowOf(section: JsonSchema, name: string, path: string): Row {
  const property = section.properties?.[name] ?? {}
  const required = section.required?.includes(name) ?? false
  const { 'x-default': written, 'x-derived': derived } = property
  return {
    name: `\`${name}\``,
    kind: kindOf(property),
    defaultText: required
      ? '**required**'
      : (derived ?? (written === undefined ? '' : `\`${written}\``)),
    change: changeOf(`${path}${name}`) ?? '',
    meaning: property.description ?? '',
  }
}

function kindOf(property: JsonSchema): string {
  if (property.items !== undefined) {
    return property.items.properties === undefined
      ? `list of: ${kindOf(property.items)}`
      : 'list of maps'
  }
  if (Array.isArray(property['type']) && property.properties !== undefined) return 'map or integer'
  if (property.properties !== undefined) return 'map'
  const { type } = property
  return property[kindKeyword] ?? (typeof type === 'string' ? type : '')
}

/** A heading and a table for every nested section, in the order of the file. */
function sections(schema: JsonSchema, path: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = property.items ?? property
    if (inner.properties === undefined) return []
    const place = `${path}${name}${property.items === undefined ? '' : '[]'}`
    if (name === 'backup-direct-rpc') return [`### \`${place}\``, '', 'As `direct-rpc[]`.', '']
    const rows = Object.keys(inner.properties).map((key) => rowOf(inner, key, `${place}.`))
    return [`### \`${place}\``, '', ...table(rows), ...sections(inner, `${place}.`)]
  })
}
