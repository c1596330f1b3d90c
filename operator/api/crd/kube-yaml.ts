// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document, parse } from 'yaml'
import type { KubeObject } from '../../kube/object.ts'

/** A JSON value. Keys with the value undefined are omitted. */
export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap

export interface YamlMap {
  readonly [key: string]: YamlValue | undefined
}

/**
 * Writes a value as YAML that YAML 1.1 (kubectl) and YAML 1.2 parsers read alike, without anchors
 * or folding. Keys and lists keep their order.
 */
export function kubeYaml(value: readonly YamlValue[] | YamlMap): string {
  return documentOf(value).toString({ lineWidth: 0, singleQuote: true })
}

/** Writes a value as one line: `{drainSeconds: 60}`. */
export function kubeYamlLine(value: YamlValue): string {
  const options = { collectionStyle: 'flow', flowCollectionPadding: false } as const
  return documentOf(value)
    .toString({ ...options, lineWidth: 0, singleQuote: true })
    .trim()
}

/** Whether kubectl reads an unquoted word as another type: `off`, `010`, `1:30`, `2026-01-31`. */
export function needsQuotes(word: string): boolean {
  if (!/^(?:[\w.+~-][\w.+:-]*)?$/.test(word)) return false
  return typeof parse(word, { version: '1.1' }) !== 'string'
}

function documentOf(value: YamlValue): Document {
  return new Document(value, { aliasDuplicateObjects: false, version: '1.2', compat: 'yaml-1.1' })
}

/** Writes objects for kubectl, as YAML documents or one JSON list. */
export function writeObjects(objects: readonly KubeObject[], format: string | null): string {
  const plain = JSON.parse(JSON.stringify(objects)) as readonly YamlMap[]
  if (format === 'json')
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: plain }, null, 2)}\n`
  return plain.map((object) => `---\n${kubeYaml(object)}`).join('')
}
