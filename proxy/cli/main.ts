// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import { configPathOf, helpText, parseFlags } from './command-line.ts'
import { exitCodes, problemLine } from '../router/checked-config.ts'
import { type CommandIo, runSchema, runValidate } from './validate.ts'
import { run } from './run.ts'

/** Default of `SR_CONFIG`: the Ethereum example. */
const defaultConfig = fileURLToPath(new URL('../../examples/ethereum.yml', import.meta.url))

/** Runs one command line to completion. @returns the exit code of the process */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  const line = parseFlags(argv)
  const { command, positionals, flags, output, own, problems } = line
  if (problems.length > 0) {
    for (const problem of problems) io.stderr.write(`${problemLine('router', problem)}\n`)
    return exitCodes.invalid
  }
  const { version } = packageJson
  const configPath = configPathOf(positionals, io.environment) ?? defaultConfig
  switch (command) {
    case 'help':
      io.stdout.write(helpText())
      return exitCodes.done
    case 'version':
      io.stdout.write(`${version}\n`)
      return exitCodes.done
    case 'schema':
      return runSchema(io)
    case 'validate':
      return runValidate({ configPath, flags, output }, io)
    case 'doctor': {
      const { runDoctor } = await import('./doctor.ts')
      return runDoctor({ configPath, flags, version }, io)
    }
    case 'replay': {
      const { runReplay } = await import('./replay.ts')
      return runReplay(line, version, io)
    }
    case 'init': {
      const { runInit } = await import('./init.ts')
      return runInit(line, io)
    }
    case 'cache': {
      const { serveCache } = await import('./cache-server.ts')
      return serveCache(positionals[0] ?? '', { flags, version }, io)
    }
    case 'explain':
      return (await import('./admin-clients.ts')).explain(line, io)
    case 'top':
      return (await import('./admin-clients.ts')).top(line, io)
    case 'run':
      return run({ configPath, flags, version, own }, io)
  }
}
