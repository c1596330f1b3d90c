// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { annotatedSchema, type JsonSchema } from '../../proxy/config/json-schema.ts'

const file = annotatedSchema()

/**
 * Returns the description of a config-file key, for the field that sets it.
 * @param path keys joined by dots, such as `direct-rpc.node-urls.timeout`
 * @param more sentences that apply only to the field
 */
export function described(path: string, ...more: readonly string[]): string {
  const key = path
    .split('.')
    .reduce<JsonSchema | undefined>(
      (section, name) => (section?.items ?? section)?.properties?.[name],
      file,
    )
  if (key?.description === undefined) throw new TypeError(`${path} has no description`)
  return [key.description, ...more].join(' ')
}
