// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document } from 'yaml'

/** What YAML is made of here. A key whose value is undefined is left out. */
export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap

export interface YamlMap {
  readonly [key: string]: YamlValue | undefined
}

/**
 * Writes a value as YAML in one way only, so that equal values give equal text: no anchors, no folding, a string that
 * could be read as something else in quotes. Keys and lists keep their order.
 */
export function canonicalYaml(value: YamlValue): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.2' })
  return document.toString({ lineWidth: 0, singleQuote: true })
}
