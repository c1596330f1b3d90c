// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import packageJson from '../../package.json' with { type: 'json' }
import { loadCatalog } from '../chain/load-catalog.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'
import { parseFlags } from './command-line.ts'
import { isCommand } from './commands.ts'
import { findConfig } from './config-source.ts'
import { commandHelp, completions, helpText, scripts } from './help.ts'
import { exitCodes, problemLine } from '../router/checked-config.ts'
import { type CommandIo, runConfig, runSchema, runValidate } from './validate.ts'
import { run } from './run.ts'

/** Runs one command line to completion. @returns the exit code of the process */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  if (argv[0] === 'completion' && argv[1] === '--') {
    const { names } = await loadCatalog([])
    return print(completions(argv.slice(2), names), io)
  }
  const line = parseFlags(argv)
  const { command, positionals, flags, output, own, problems } = line
  if (problems.length > 0) return refuse(problems, io)
  const { version } = packageJson
  const [word = ''] = positionals
  switch (command) {
    case 'help':
      if (word === '' || isCommand(word))
        return print([isCommand(word) ? commandHelp(word) : helpText()], io)
      return refuse(
        [problemAt('', null, `there is no command ${quote(word)}`, 'See router help.')],
        io,
      )
    case 'version':
      return print([version], io)
    case 'completion': {
      const script = Object.hasOwn(scripts, word) ? scripts[word] : undefined
      const hint =
        'Such as source <(router completion bash); for fish: router completion fish | source'
      return script
        ? print([script], io)
        : refuse([problemAt('', null, 'expected bash, zsh or fish', hint)], io)
    }
    case 'schema':
      return runSchema(io)
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
      return serveCache(word, { flags, version }, io)
    }
    case 'explain':
      return (await import('./admin-clients.ts')).explain(line, io)
    case 'top':
    case 'status':
      return (await import('./admin-clients.ts')).top(line, io)
    case 'run':
    case 'validate':
    case 'config':
    case 'doctor':
      break
  }
  const source = await findConfig(line, io)
  if ('problem' in source) return refuse([source.problem], io)
  const request = { ...source, flags, version }
  if (command === 'validate') return runValidate({ ...request, output }, io)
  if (command === 'config') return runConfig({ ...request, isFull: own.full !== undefined }, io)
  if (command === 'run') return run({ ...request, own }, io)
  const { runDoctor } = await import('./doctor.ts')
  return runDoctor(request, io)
}

function print(lines: readonly string[], io: CommandIo): number {
  for (const line of lines) io.stdout.write(line.endsWith('\n') ? line : `${line}\n`)
  return exitCodes.done
}

function refuse(problems: readonly Problem[], io: CommandIo): number {
  for (const problem of problems) io.stderr.write(`${problemLine('router', problem)}\n`)
  return exitCodes.invalid
}
