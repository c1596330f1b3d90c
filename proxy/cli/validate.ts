// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { loadCatalog } from '../chain/load-catalog.ts'
import { withChains } from '../config/chain-schema.ts'
import { configJsonSchema, type JsonSchema } from '../config/json-schema.ts'
import { longForm } from '../config/long-form.ts'
import type { OutputFormat } from './commands.ts'
import {
  exitCodes,
  checkConfig,
  problemLine,
  type ConfigRequest,
} from '../router/checked-config.ts'

/** Where a command writes, such as `process.stdout`. */
export interface TextSink {
  write(text: string): unknown
}

/** A command's access to the outside world. */
export interface CommandIo {
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Arguments of `router validate`. */
export interface ValidateArguments extends Omit<ConfigRequest, 'environment'> {
  readonly output: OutputFormat
}

/**
 * Validates a config file and prints every problem: as text on stderr with a success line on
 * stdout, or as one JSON document on stdout.
 *
 * @returns the exit code: 0, or 2 on an error
 */
export async function runValidate(arguments_: ValidateArguments, io: CommandIo): Promise<number> {
  const { configPath, output } = arguments_
  const request = { ...arguments_, environment: io.environment }
  const { config, problems, redact } = await checkConfig(request)
  const valid = config !== null
  if (output === 'json') {
    const document = { version: 1, file: configPath, valid, problems }
    io.stdout.write(`${redact(JSON.stringify(document, null, 2))}\n`)
  } else {
    for (const problem of problems) io.stderr.write(`${redact(problemLine(configPath, problem))}\n`)
    if (valid) {
      const { endpoints, upstreams } = config
      const served = `${count(endpoints.length, 'listener')}, ${count(upstreams.length, 'upstream')}`
      io.stdout.write(`${configPath} is valid: ${served}\n`)
    }
  }
  return valid ? exitCodes.done : exitCodes.invalid
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

/**
 * Prints the long form of a config. Keys that the file holds are masked.
 * @param isFull also prints settings that have their default
 */
export async function runConfig(
  request: Omit<ConfigRequest, 'environment'> & { readonly isFull: boolean },
  io: CommandIo,
): Promise<number> {
  const { environment } = io
  const { config, problems, redact, parsed } = await checkConfig({ ...request, environment })
  for (const problem of problems)
    io.stderr.write(`${redact(problemLine(request.configPath, problem))}\n`)
  if (config === null) return exitCodes.invalid
  io.stdout.write(redact(longForm(parsed.tree, request.isFull)))
  return exitCodes.done
}

/** Prints the JSON Schema of the config file. Always succeeds. */
export async function runSchema(io: { readonly stdout: TextSink }): Promise<number> {
  io.stdout.write(`${JSON.stringify(await schemaWithChains(), null, 2)}\n`)
  return exitCodes.done
}

/** The JSON Schema of the config file, which knows the bundled chains. */
export async function schemaWithChains(): Promise<JsonSchema> {
  const { ids, find } = await loadCatalog([])
  const names = ids
    .map(find)
    .flatMap((chain) => (chain ? [chain.id, ...chain.aliases, chain.name] : []))
    .filter((name) => /^[\w .-]+$/.test(name))
  return withChains(configJsonSchema(), [...new Set(names)].toSorted())
}
