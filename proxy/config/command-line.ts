// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FlagValues } from './flag-values.ts'
import { nearest } from './nearest.ts'
import { quote } from './path.ts'
import type { Problem } from './problem.ts'
import { isSettingName, settingNames, settings, type SettingName } from './settings.ts'

/** What `router` can be asked to do, and the sentence that `--help` says about it. */
export const commands = {
  run: 'Serve. The default: `router config.yml` is `router run config.yml`.',
  validate: 'Check a config file and print every problem. Exit code 0 or 2.',
  schema: 'Print the JSON Schema of the config file, for editors.',
  version: 'Print the version.',
  help: 'Print this text.',
} as const
export type Command = keyof typeof commands

const outputFormats = ['text', 'json'] as const
export type OutputFormat = (typeof outputFormats)[number]

/** A command line, taken apart. */
export interface CommandLine {
  readonly command: Command
  /** What is neither a flag nor the command: the path of the config file. */
  readonly positionals: readonly string[]
  readonly flags: FlagValues
  /** `--output` of `validate`. */
  readonly output: OutputFormat
  readonly problems: readonly Problem[]
}

const otherFlags = ['output', 'help', 'version']

/**
 * Takes a command line apart: `--flag value`, `--flag=value`, switches, `--` before what is no flag.
 *
 * @param argv without the runtime and the script
 */
export function parseFlags(argv: readonly string[]): CommandLine {
  const reader = new ArgumentReader(argv)
  reader.read()
  const { positionals, problems } = reader
  const first = positionals[0]
  const named = first !== undefined && Object.hasOwn(commands, first) ? (first as Command) : null
  const command = reader.asked ?? named ?? 'run'
  const rest = named === null ? positionals : positionals.slice(1)
  return {
    command,
    positionals: rest,
    flags: reader.flags,
    output: reader.output,
    problems: [
      ...problems,
      ...(command === 'help' ? [] : checkPositionals(command, rest)),
      ...(reader.outputGiven && command !== 'validate' && command !== 'help'
        ? [problem('--output', 'the flag is of validate alone', null)]
        : []),
    ],
  }
}

/** The config file that is meant: the one named, else `SR_CONFIG`; null when there is neither. */
export function configPathOf(
  positionals: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  return positionals[0] ?? (environment['SR_CONFIG'] || null)
}

class ArgumentReader {
  readonly positionals: string[] = []
  readonly flags: Partial<Record<SettingName, string[]>> = {}
  readonly problems: Problem[] = []
  /** A command that was asked for by a flag. */
  asked: Command | null = null
  output: OutputFormat = 'text'
  outputGiven = false
  readonly #argv: readonly string[]
  #at = 0

  constructor(argv: readonly string[]) {
    this.#argv = argv
  }

  read(): void {
    while (this.#at < this.#argv.length) {
      const argument = this.#argv[this.#at++] ?? ''
      if (argument === '--') {
        this.positionals.push(...this.#argv.slice(this.#at))
        return
      }
      if (argument === '-h') this.asked = 'help'
      else if (argument === '-v') this.asked ??= 'version'
      else if (!argument.startsWith('-') || argument === '-') this.positionals.push(argument)
      else this.#readFlag(argument)
    }
  }

  #readFlag(argument: string): void {
    const [, dashes = '', name = '', , value] = /^(--?)([^=]*)(=(.*))?$/s.exec(argument) ?? []
    const given: string | undefined = argument.includes('=') ? (value ?? '') : undefined
    if (dashes !== '--' || (!isSettingName(name) && !otherFlags.includes(name))) {
      this.problems.push(unknownFlag(dashes + name, name))
      // The next argument may have been its value: nobody can tell, so it is not judged as a path.
      if (given === undefined && this.#nextIsValue()) this.#at++
      return
    }
    if (name === 'help') this.asked = 'help'
    else if (name === 'version') this.asked ??= 'version'
    else if (name === 'output') this.#readOutput(given)
    else if (isSettingName(name)) this.#readSetting(name, given)
  }

  #readSetting(name: SettingName, given: string | undefined): void {
    const { valueName, repeatable } = settings[name]
    const value = given ?? (valueName === null ? 'true' : this.#takeValue(name, `<${valueName}>`))
    if (value === null) return
    if (value === '') {
      this.problems.push(problem(`--${name}`, 'the value is empty', null))
      return
    }
    const values = this.flags[name]
    if (values === undefined) this.flags[name] = [value]
    else if (repeatable) values.push(value)
    else this.problems.push(problem(`--${name}`, 'the flag is given twice', 'Keep one of them.'))
  }

  #readOutput(given: string | undefined): void {
    this.outputGiven = true
    const value = given ?? this.#takeValue('output', '<text|json>')
    if (value === null) return
    const format = outputFormats.find((known) => known === value)
    if (format !== undefined) {
      this.output = format
      return
    }
    const message = `${quote(value)} is not one of the allowed values`
    this.problems.push(problem('--output', message, `Allowed: ${outputFormats.join(', ')}.`))
  }

  #takeValue(name: string, valueName: string): string | null {
    if (this.#nextIsValue()) return this.#argv[this.#at++] ?? ''
    this.problems.push(
      problem(`--${name}`, 'the value is missing', `Write --${name} ${valueName}.`),
    )
    return null
  }

  #nextIsValue(): boolean {
    const next = this.#argv[this.#at]
    return next !== undefined && (!next.startsWith('-') || /^-\d/.test(next))
  }
}

function unknownFlag(flag: string, name: string): Problem {
  const near = nearest(name, [...settingNames, ...otherFlags])
  const hint = near === null ? 'See router --help.' : `Did you mean --${near}?`
  return problem(flag, `unknown flag ${quote(flag)}`, hint)
}

function checkPositionals(command: Command, rest: readonly string[]): readonly Problem[] {
  const most = command === 'run' || command === 'validate' ? 1 : 0
  const extra = rest[most]
  if (extra === undefined) return []
  // `router valdate config.yml`: the first was meant as a command.
  const meant = command === 'run' ? nearest(rest[0] ?? '', Object.keys(commands)) : null
  if (meant !== null) {
    return [problem('', `unknown command ${quote(rest[0] ?? '')}`, `Did you mean ${meant}?`)]
  }
  const takes = most === 1 ? 'one config file' : 'no arguments'
  return [problem('', `unexpected argument ${quote(extra)}`, `router ${command} takes ${takes}.`)]
}

function problem(path: string, message: string, hint: string | null): Problem {
  return { severity: 'error', path, line: null, column: null, message, hint }
}
