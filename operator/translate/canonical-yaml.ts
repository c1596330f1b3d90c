// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document, visit } from 'yaml'

/** What YAML is made of here. A key whose value is undefined is left out. */
export type YamlValue =
  | string
  | number
  | boolean
  | null
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue | undefined }

/**
 * Writes a value as YAML in one way only, so that equal values give equal text: no anchors, no folding, strings that
 * another reader could take for something else in quotes. Keys stand in the order given, or sorted on request; lists
 * keep theirs.
 */
export function canonicalYaml(value: YamlValue, options: { readonly sortKeys: boolean }): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.2' })
  if (options.sortKeys) sortMaps(document)
  return document.toString({ lineWidth: 0, singleQuote: true, indentSeq: true })
}

function sortMaps(document: Document): void {
  visit(document, {
    Map(_, map) {
      map.items.sort((a, b) => compare(String(a.key), String(b.key)))
    },
  })
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
