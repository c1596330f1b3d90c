// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { annotatedSchema, type JsonSchema } from '../../proxy/config/json-schema.ts'

const file = annotatedSchema()

/**
 * Returns the description of a key of the router's config file, for the field that sets the key.
 * @param path keys with dots between them, such as `direct-rpc.node-urls.timeout`
 * @param more sentences that apply to the field alone
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
