// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document, type ScalarTag, type Tags } from 'yaml'
import { stringifyString } from 'yaml/util'

/** A value of JSON. A key whose value is undefined is left out. */
export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap

export interface YamlMap {
  readonly [key: string]: YamlValue | undefined
}

/**
 * Writes a value as YAML that gives the same value to readers of YAML 1.1, kubectl among them, and of YAML 1.2: a text
 * that one of them would take for something else stands in quotes. No anchors, no folding; keys and lists keep their order.
 */
export function kubeYaml(value: readonly YamlValue[] | YamlMap): string {
  return documentOf(value).toString({ lineWidth: 0, singleQuote: true })
}

/** The same in one line: `{drainSeconds: 60}`. */
export function kubeYamlLine(value: YamlValue): string {
  const options = { collectionStyle: 'flow', flowCollectionPadding: false } as const
  return documentOf(value)
    .toString({ ...options, lineWidth: 0 })
    .trim()
}

/** Whether a text without quotes is another value to some reader: `off`, `010`, `1:30`, `2026-01-31`, `=`. */
export function needsQuotes(text: string): boolean {
  return words.test(text) || numeral.test(text) || timestamp.test(text)
}

const words = /^(?:|y|n|yes|no|on|off|true|false|null|~|=|<<|[-+]?\.(?:inf|nan|_*))$/i
/** Octal, hexadecimal, to the base 60, with underscores, dates: more than any reader takes for a number. */
const numeral = /^(?=.*\d)[-+]?_*(?:0_*x[\da-f_]*|[\d.e][\d_.,:beo+-]*)$/i
const timestamp = /^\d{4}-\d\d?-\d\d?(?:t|\s)/i

/** What YAML 1.1 does not take as it is, or takes for the end of a line. */
// oxlint-disable-next-line no-control-regex
const unprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g

const text: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  identify: (value) => typeof value === 'string',
  resolve: (source) => source,
  stringify(item, context, onComment, onChompKeep) {
    const value = String(item.value)
    // Several lines within braces, or such as begin with space, would not be read as they are written.
    const isBroken = value.includes('\n') && (context.inFlow === true || /^\s/.test(value))
    if (isBroken || value.search(unprintable) !== -1 || /^\s*\t/.test(value))
      return JSON.stringify(value).replaceAll(unprintable, escaped)
    const quoted = needsQuotes(value) ? { value, type: 'QUOTE_SINGLE' as const } : { value }
    return stringifyString(quoted, context, onComment, onChompKeep)
  },
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The tags of YAML 1.2 with ours for texts. */
function withOurText(tags: Tags): Tags {
  return [text, ...tags.filter((tag) => typeof tag === 'string' || tag.tag !== text.tag)]
}

function documentOf(value: YamlValue): Document {
  return new Document(value, {
    aliasDuplicateObjects: false,
    version: '1.2',
    customTags: withOurText,
  })
}
