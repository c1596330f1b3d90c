// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { configJsonSchema } from '../config/json-schema.ts'
import type { TextSink } from './validate.ts'

/** Prints the JSON Schema of the config file. Always succeeds. */
export function runSchema(io: { readonly stdout: TextSink }): number {
  io.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
  return 0
}
