// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { nearest } from '../config/nearest.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'
import { type FlagValues, isSettingName, settingNames, settings } from '../config/settings.ts'
import {
  type Command,
  commandRows,
  isCommand,
  isOwnFlag,
  type OwnFlagName,
  ownFlagsOf,
  ownRows,
  type OutputFormat,
  outputFormats,
  settingsOf,
  valueNameOf,
} from './commands.ts'

/** A parsed command line. */
export interface CommandLine {
  readonly command: Command
  /** Arguments without flags and command: the path of the config file. */
  readonly positionals: readonly string[]
  readonly flags: FlagValues
  /** `--output` of `validate`. `--json`, also of `top`, means `--output json`. */
  readonly output: OutputFormat
  /** Flags of individual commands: `--url` of `init`, `--record` of `run`. */
  readonly own: Partial<Readonly<Record<OwnFlagName, readonly string[]>>>
  readonly problems: readonly Problem[]
}

const names = [...settingNames, ...Object.keys(ownRows).filter(isOwnFlag)]
const options: ParseArgsOptionsConfig = {
  ...Object.fromEntries(
    names.map((name) => [name, { type: valueNameOf(name) === null ? 'boolean' : 'string' }]),
  ),
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
}

/**
 * Parses a command line: `--flag value`, `--flag=value`, switches, and `--` before non-flags.
 *
 * @param argv without the runtime and the script
 */
export function parseFlags(argv: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const words: string[] = []
  const values = new Map<string, string[]>()
  const faults = new Map<number, Problem>()
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const fault = readFlag(token, argv[token.index] ?? '', values)
    if (fault !== null) faults.set(token.index, fault)
  }
  const [first = ''] = words
  const named = isCommand(first) ? first : null
  const flag = (['help', 'version'] as const).find((name) => values.has(name))
  const command = flag ?? named ?? 'run'
  const isHelpOf = flag === 'help' && named !== null && named !== 'help'
  const positionals = isHelpOf ? [named] : named === null ? words : words.slice(1)
  const [format = values.has('json') ? 'json' : 'text'] = values.get('output') ?? []
  const output = outputFormats.find((known) => known === format)
  const problems = [...faults.values()]
  if (output === undefined) {
    const message = `${quote(format)} is not one of the allowed values`
    problems.push(problemAt('--output', null, message, `Allowed: ${outputFormats.join(', ')}.`))
  }
  if (command !== 'help') {
    // A word after an unknown flag may have been its value.
    if (faults.size === 0) problems.push(...checkPositionals(command, positionals))
    for (const name of [...values.keys()].filter(isOwnFlag)) {
      const of = ownRows[name].of.map((each) => `router ${each}`).join(', ')
      const hint = `It is a flag of: ${of}.`
      if (!ownFlagsOf(command).includes(name))
        problems.push(problemAt(`--${name}`, null, `the flag is not of router ${command}`, hint))
    }
    const known = settingsOf(command)
    const own = [...ownFlagsOf(command), ...known].map((name) => `--${name}`).join(', ')
    const hint = own === '' ? 'It has no flags.' : `Those of router ${command}: ${own}.`
    for (const name of [...values.keys()].filter(isSettingName))
      if (!known.includes(name))
        problems.push(problemAt(`--${name}`, null, `the flag is not of router ${command}`, hint))
  }
  const flags = Object.fromEntries([...values].filter(([name]) => isSettingName(name)))
  const own = Object.fromEntries([...values].filter(([name]) => isOwnFlag(name)))
  return { command, positionals, flags, output: output ?? 'text', own, problems }
}

interface FlagToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

/** @returns what is wrong with the flag */
function readFlag(
  { name, rawName, value: given, inlineValue }: FlagToken,
  argument: string,
  values: Map<string, string[]>,
): Problem | null {
  const [flag = ''] = argument.split('=')
  // `-strategy` is not a group of short flags.
  if (rawName !== flag || !Object.hasOwn(options, name)) {
    const near = nearest(flag.replace(/^-+/, ''), Object.keys(options))
    const usual = /^-+(?:c|f|config|file)$/.test(flag)
      ? 'The file needs no flag: router config.yml.'
      : 'See router help.'
    const hint = near === null ? usual : `Did you mean --${near}?`
    return problemAt(flag, null, `unknown flag ${quote(flag)}`, hint)
  }
  const value = given ?? (options[name]?.type === 'boolean' ? 'true' : undefined)
  const valueName = isSettingName(name) || isOwnFlag(name) ? valueNameOf(name) : null
  // `-1` is a value, `--strategy` and `-h` are not.
  if (value === undefined || (!inlineValue && /^-(?!\d)/.test(value)))
    return problemAt(flag, null, 'the value is missing', `Write ${flag} <${valueName}>.`)
  if (value === '') return problemAt(flag, null, 'the value is empty')
  const known = values.get(name) ?? []
  const row = isOwnFlag(name) ? ownRows[name] : null
  const isRepeatable = isSettingName(name) ? settings[name].repeatable : row?.repeatable
  if (known.length > 0 && !isRepeatable)
    return problemAt(flag, null, 'the flag is given twice', 'Keep one of them.')
  if (row?.isCount && !/^[1-9]\d{0,8}$/.test(value))
    return problemAt(flag, null, `${quote(value)} is not a whole number from 1`, 'Such as 20.')
  values.set(name, [...known, value])
  return null
}

function checkPositionals(command: Command, rest: readonly string[]): readonly Problem[] {
  const { argument } = commandRows[command]
  const extra = rest[argument === null ? 0 : 1]
  const hasFile = argument === '[config.yml]'
  // In `router valdate config.yml`, the first word is a misspelt command.
  const [first = ''] = rest
  const meant = command === 'run' ? nearest(first, Object.keys(commandRows)) : null
  if (meant !== null && (extra !== undefined || !/[./\\-]/.test(first))) {
    const hint = `Did you mean ${meant}? A file of that name is ./${first}.`
    return [problemAt('', null, `unknown command ${quote(first)}`, hint)]
  }
  if (extra === undefined) return []
  const takes =
    argument === null
      ? 'no arguments'
      : hasFile
        ? 'one config file'
        : `one ${argument.replace(/[<>[\]]/g, '')}`
  const hint = `router ${command} takes ${takes}.`
  return [problemAt('', null, `unexpected argument ${quote(extra)}`, hint)]
}
