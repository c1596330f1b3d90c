// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { kindKeyword } from '../../proxy/config/fields/field.ts'
import { annotatedSchema, type JsonSchema } from '../../proxy/config/json-schema.ts'
import { changeOf } from '../../proxy/config/live-keys.ts'
import { settingNames, settings } from '../../proxy/config/settings.ts'
import { configExample } from '../generate/config-example.ts'

/** The text of `docs/reference/config.md`. */
export function render(): string {
  const schema = annotatedSchema()
  return [
    '<!-- Generated from proxy/config. Do not edit. -->',
    '',
    '# Configuration',
    '',
    'One YAML file says what the router serves and where it sends it. A key with the change `live` is taken over by a router that',
    'runs, any other one with a restart ([changes](../concepts/changes.md)). `router validate` reports all',
    'problems of a file at once, with their lines; `router schema` prints the JSON Schema, with which editors complete the file.',
    '',
    '```yaml',
    configExample.trimEnd(),
    '```',
    '',
    ...rules,
    '## Sections',
    '',
    ...table(sectionRows(schema)),
    ...sections(schema, ''),
    '## Settings of the process',
    '',
    'Keys at the top of the file. Each is a flag of the same name too. A flag beats the environment, the environment beats the',
    'file, the file beats the default. What an endpoint says under `relay` beats them all, for that endpoint.',
    '',
    ...table(settingRows(schema)),
  ].join('\n')
}

const rules = [
  '## Values',
  '',
  '- A **duration** is a number with a unit, or several: `500ms`, `5s`, `1m30s`, `1h`. A number without a unit is refused.',
  '- A **size** is `10MiB`, `512KiB`, `10MB` or plain bytes.',
  '- An **address** is `host:port`. Without a host (`:3360`, `3360`) it means all interfaces. An IPv6 address has brackets, and',
  '  YAML wants quotes around them: `"[::1]:3360"`.',
  '- A name or a header value that YAML would read as a number, such as `0123` or `1e3`, is taken as it is written.',
  '- An unknown key, a repeated key, a YAML tag and a merge key (`<<`) are refused. Anchors and aliases work.',
  '- Relative paths are relative to the directory in which the router is started.',
  '',
  '## Placeholders',
  '',
  '`${NAME}` and `$<NAME>` mean the same and may be in any value but those named below, alone or inside a longer text. They are rendered after the',
  'YAML was read, so a value cannot change the structure of the file. Values come from the environment and, where it has none,',
  'from the env files. A variable that is not set, or is empty, keeps the router from starting; all of them are named at once.',
  'A literal `${` is written `$${`, a literal `$<` is written `$$<`.',
  '',
  'What came from a placeholder is never printed. So a placeholder cannot be where a value is shown to others: names, group',
  'labels, chain ids, interfaces, add-ons, verifications, paths of files, spec sources. In an address it can give a port or an',
  'IP address. A URL is shown as its origin, as it is written in the file, without user, password, path and query.',
  '',
  '## Env files',
  '',
  'A file that `--env-file` or `env-file` names has a line `NAME=value` for each variable; `export` may come before the name.',
  'What cannot be read as such keeps the router from starting, and so does a file that is missing.',
  '',
  '- A `#` starts a comment at the beginning of a line and after white space. In `NAME=a#b` it belongs to the value.',
  '- White space around a value is left out.',
  "- In single quotes everything is literal: `NAME='a # b'`. In double quotes `\\n`, `\\r`, `\\t`, `\\\\` and `\\\"` are known.",
  '  Both may hold several lines. Placeholders are not rendered.',
  '- Of a directory each file is a variable: its name is that of the variable, its text without a line break at the end the value, whatever',
  '  is in it. That is how Kubernetes and Docker mount secrets. A value that changes there is taken over by a running router.',
  '- Node has an option of the same name. Where the command is `npx router`, or `node` with a script, Node itself reports a',
  '  missing file, with exit code 9. After `--` it does not: `npx -- router config.yml --env-file keys.env`.',
  '',
] as const

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
  const written = property['x-default']
  return {
    name: `\`${name}\``,
    kind: kindOf(property),
    defaultText: required ? '**required**' : written === undefined ? '' : `\`${written}\``,
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

/** A heading and a table for every section below one, in the order of the file. */
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
