// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseEnv } from 'node:util'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Puts env files under an environment: `NAME=value` lines, quotes and comments as in dotenv files.
 * The environment beats the files, and a later file beats an earlier one.
 *
 * @param texts the files' texts, in the order in which they were named
 */
export function layerEnvironment(environment: Environment, texts: readonly string[]): Environment {
  const layers = texts.map((text) => parseEnv(text.replace(/^\uFEFF/, '')))
  // Without a prototype, so that no name is found that nobody set.
  const names = Object.create(null) as Record<string, string | undefined>
  for (const layer of [...layers, environment]) Object.assign(names, layer)
  return names
}
