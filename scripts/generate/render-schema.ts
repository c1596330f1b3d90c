// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { format } from 'prettier'
import { schemaWithChains } from '../../proxy/cli/validate.ts'
import type { GeneratedFile } from './render-references.ts'

/** The schema of the config file, which the examples name for editors. */
export async function renderSchema(): Promise<GeneratedFile> {
  const text = JSON.stringify(await schemaWithChains())
  const path = 'examples/config.schema.json'
  return { path, text: await format(text, { parser: 'json', printWidth: 100 }) }
}
