// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type CustomResourceDefinition,
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../operator/api/crd/definition.ts'
import type { StructuralSchema } from '../../operator/api/crd/structural-schema.ts'
import { rulesKeyword } from '../../operator/api/field.ts'
import { needsQuotes } from '../../operator/api/crd/kube-yaml.ts'
import { fillIn } from '../generate/fill-in.ts'

/** The text of `docs/reference/api.md`. */
export function render(): string {
  const kinds = [rpcRouterDefinition(), upstreamProviderDefinition()].flatMap(kind)
  return fillIn('docs/reference/api.md', { kinds })
}

/** Adds quotes where YAML 1.1, which kubectl reads, would parse another value. */
function asWritten(word: string): string {
  return needsQuotes(word) ? `"${word}"` : word
}

function kind(definition: CustomResourceDefinition): readonly string[] {
  const { names, versions } = definition.spec
  const [version] = versions
  const { openAPIV3Schema: schema } = version.schema
  const fields = version.selectableFields?.map(({ jsonPath }) => `\`${jsonPath.slice(1)}\``)
  return [
    `## ${names.kind}`,
    '',
    `${textOf(schema).meaning} Short name: \`${names.shortNames.join('`, `')}\`.`,
    '',
    ...ruleLines(schema),
    ...(fields ? [`Field selectors: ${fields.join(', ')}.`, ''] : []),
    '| Column | Meaning |',
    '|---|---|',
    ...version.additionalPrinterColumns.map(
      ({ name, description, priority = 0 }) =>
        `| ${name.toUpperCase()}${priority === 1 ? ' (with `-o wide`)' : ''} | ${description} |`,
    ),
    '',
    ...['spec', 'status'].flatMap((name) =>
      sections(`${names.kind}.${name}`, schema.properties?.[name] ?? {}),
    ),
  ]
}

/** A table of an object's fields, followed by tables of nested objects. */
function sections(path: string, schema: StructuralSchema): readonly string[] {
  const properties = Object.entries(schema.properties ?? {})
  const inner = properties.flatMap(([name, field]) => {
    const { object, suffix } = objectInside(field)
    return object === null ? [] : sections(`${path}.${name}${suffix}`, object)
  })
  return [
    `### ${path}`,
    '',
    textOf(schema).meaning,
    '',
    '| Field | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...properties.map(([name, field]) => row(name, field, schema.required ?? [])),
    '',
    ...ruleLines(schema),
    ...inner,
  ]
}

/** The object schema of a field or of its items. */
function objectInside(field: StructuralSchema): {
  object: StructuralSchema | null
  suffix: string
} {
  if (field.properties !== undefined) return { object: field, suffix: '' }
  const { items } = field
  if (items?.properties !== undefined) return { object: items, suffix: '[]' }
  return { object: null, suffix: '' }
}

function row(name: string, field: StructuralSchema, required: readonly string[]): string {
  const { meaning, example, usual } = textOf(field)
  const defaultText = required.includes(name) ? '**required**' : usual && code(usual)
  const own = field.properties === undefined ? rulesOf(field) : []
  const text = [meaning, ...own.map(sentence), ...(example ? [`Example: ${code(example)}.`] : [])]
  return `| \`${name}\` | ${typeOf(field)} | ${defaultText} | ${text.join(' ').replaceAll('|', '\\|')} |`
}

function code(text: string): string {
  return `\`${text}\``
}

/** Splits a description into its meaning, the example and the default. */
function textOf({ description = '' }: StructuralSchema) {
  const [meaning = '', ...lines] = description.split('\n')
  const after = (label: string) =>
    lines.find((line) => line.startsWith(label))?.slice(label.length) ?? ''
  return { meaning, example: after('Example: '), usual: after('Default: ') }
}

function rulesOf(field: StructuralSchema): readonly string[] {
  const messages = [...(field[rulesKeyword] ?? []), ...(field.items?.[rulesKeyword] ?? [])]
  return [...new Set(messages.map(({ message }) => message))]
}

function ruleLines(schema: StructuralSchema): readonly string[] {
  const messages = [...new Set((schema[rulesKeyword] ?? []).map(({ message }) => message))]
  return messages.length === 0 ? [] : [...messages.map((text) => `- ${sentence(text)}`), '']
}

function sentence(message: string): string {
  const text = message.replaceAll(/\$\{\w+\}/g, '`$&`').replaceAll('*', '\\*')
  const named = text.replace(/^[a-z][\w.]*(?= must )/, '`$&`')
  return `${named.charAt(0).toUpperCase()}${named.slice(1)}.`
}

function typeOf(field: StructuralSchema): string {
  if (field.enum) return field.enum.map((word) => code(asWritten(String(word)))).join(', ')
  switch (field.type) {
    case 'string':
      return `text, ${field.maxLength} characters at most`
    case 'integer':
      return `integer, ${field.minimum} to ${field.maximum}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return listType(field)
    case 'object':
      return field.additionalProperties ? `map, ${field.maxProperties} entries at most` : 'object'
    default:
      return 'number or text'
  }
}

function listType({ items = {}, minItems = 0, maxItems }: StructuralSchema): string {
  const what = items.type === 'object' ? 'objects' : 'texts'
  return `list of ${what}, ${minItems === 0 ? 'at most ' : `${minItems} to `}${maxItems}`
}
