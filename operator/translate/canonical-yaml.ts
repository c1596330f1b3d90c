// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Document } from 'yaml'
import type { YamlMap, YamlValue } from '../api/crd/kube-yaml.ts'

export type { YamlMap, YamlValue }

/**
 * Writes the YAML 1.2 of the router's own files in one way only, so that equal values give equal text: no anchors, no folding, a string that
 * could be read as something else in quotes. Keys and lists keep their order.
 */
export function canonicalYaml(value: YamlValue): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version: '1.2' })
  return document.toString({ lineWidth: 0, singleQuote: true })
}
