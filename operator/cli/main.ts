// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import packageJson from '../../package.json' with { type: 'json' }
import { type CommandIo, exitCodes, parseCommandLine } from './command-line.ts'
import { helpText } from './flags.ts'

/** Runs a command line. @returns the exit code of the process */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  // bin/kubectl-rpc.mjs starts this command, which has its own flags.
  if (argv[0] === 'kubectl') return (await import('./kubectl.ts')).kubectl(argv.slice(1), io)
  const { command, values, problems } = parseCommandLine(argv)
  if (problems.length > 0) {
    for (const problem of problems) io.stderr.write(`rpc-operator: error: ${problem}\n`)
    return exitCodes.invalid
  }
  const { version } = packageJson
  // Each command loads only what it needs: `rbac` no parser, `render` no client.
  switch (command) {
    case 'help':
      io.stdout.write(helpText())
      return exitCodes.done
    case 'version':
      io.stdout.write(`${version}\n`)
      return exitCodes.done
    case 'rbac':
      return (await import('./rbac.ts')).runRbac(values, io)
    case 'render':
      return (await import('./validate.ts')).runRender(values, version, io)
    case 'validate':
      return (await import('./validate.ts')).runValidate(values, version, io)
    case 'run':
      return (await import('./run.ts')).run(values, version, io)
  }
}
