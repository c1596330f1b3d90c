// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUnbuilt } from './capabilities.ts'
import { nearest } from './nearest.ts'
import { type Problem, problemAt, quote } from './problem.ts'
import {
  type FlagValues,
  type SettingName,
  isSettingName,
  settingGroups,
  settingNames,
  settings,
  valueNameOf,
} from './settings.ts'

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
  const rest = [...argv]
  const words: string[] = []
  const values = new Map<string, string[]>()
  const problems: Problem[] = []
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--') words.push(...rest.splice(0))
    else if (argument === '-h') values.set('help', [])
    else if (argument === '-v') values.set('version', [])
    else if (!argument.startsWith('-') || argument === '-') words.push(argument)
    else readFlag(argument, rest, values, problems)
  }
  const [first = ''] = words
  const named = Object.hasOwn(commands, first) ? (first as Command) : null
  const asked = (['help', 'version'] as const).find((name) => values.has(name))
  const command = asked ?? named ?? 'run'
  const positionals = named === null ? words : words.slice(1)
  const [format = 'text'] = values.get('output') ?? []
  const output = outputFormats.find((known) => known === format)
  if (output === undefined) problems.push(notAllowed('--output', format, outputFormats))
  if (command !== 'help') {
    problems.push(...checkPositionals(command, positionals))
    if (values.has('output') && command !== 'validate')
      problems.push(problemAt('--output', null, 'the flag is of validate alone'))
  }
  const flags = Object.fromEntries([...values].filter(([name]) => isSettingName(name)))
  return { command, positionals, flags, output: output ?? 'text', problems }
}

/** The config file that is meant: the one named, else `SR_CONFIG`; null when there is neither. */
export function configPathOf(
  positionals: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  return positionals[0] ?? (environment['SR_CONFIG'] || null)
}

/** @param rest the arguments behind this one; its value is taken from there */
function readFlag(
  argument: string,
  rest: string[],
  values: Map<string, string[]>,
  problems: Problem[],
): void {
  const [flag = '', given] = argument.split(/=(.*)/s)
  const name = flag.slice(2)
  const takeValue = () => (isValue(rest[0]) ? rest.shift() : undefined)
  if (!flag.startsWith('--') || (!isSettingName(name) && !otherFlags.includes(name))) {
    problems.push(unknownFlag(flag))
    // The next argument may have been its value: nobody can tell, so it is not judged as a path.
    if (given === undefined) takeValue()
    return
  }
  const { repeatable } = isSettingName(name) ? settings[name] : { repeatable: false }
  const valueName = isSettingName(name) ? valueNameOf(name) : name === 'output' ? 'text|json' : null
  const value = given ?? (valueName === null ? 'true' : takeValue())
  const known = values.get(name) ?? []
  if (value === undefined)
    problems.push(problemAt(flag, null, 'the value is missing', `Write ${flag} <${valueName}>.`))
  else if (value === '') problems.push(problemAt(flag, null, 'the value is empty'))
  else if (known.length > 0 && !repeatable)
    problems.push(problemAt(flag, null, 'the flag is given twice', 'Keep one of them.'))
  else values.set(name, [...known, value])
}

/** `-1` is a value, `--strategy` and `-h` are not. */
function isValue(argument: string | undefined): boolean {
  return argument !== undefined && !/^-(?!\d)/.test(argument)
}

function unknownFlag(flag: string): Problem {
  const near = nearest(flag.replace(/^-+/, ''), [...settingNames, ...otherFlags])
  const hint = near === null ? 'See router --help.' : `Did you mean --${near}?`
  return problemAt(flag, null, `unknown flag ${quote(flag)}`, hint)
}

function notAllowed(path: string, value: string, words: readonly string[]): Problem {
  const message = `${quote(value)} is not one of the allowed values`
  return problemAt(path, null, message, `Allowed: ${words.join(', ')}.`)
}

function checkPositionals(command: Command, rest: readonly string[]): readonly Problem[] {
  const most = command === 'run' || command === 'validate' ? 1 : 0
  const extra = rest[most]
  // `router valdate config.yml`: the first was meant as a command.
  const meant = command === 'run' && extra ? nearest(rest[0] ?? '', Object.keys(commands)) : null
  if (meant !== null) {
    const message = `unknown command ${quote(rest[0] ?? '')}`
    return [problemAt('', null, message, `Did you mean ${meant}?`)]
  }
  if (extra === undefined) return []
  const takes = most === 1 ? 'one config file' : 'no arguments'
  const hint = `router ${command} takes ${takes}.`
  return [problemAt('', null, `unexpected argument ${quote(extra)}`, hint)]
}

const width = 96
const indent = '      '

/** What `router --help` prints. Its lines are under 100 columns. */
export function helpText(): string {
  const sections = Object.entries(settingGroups).flatMap(([group, rows]) => {
    const names = (Object.keys(rows) as SettingName[]).filter((name) => !isUnbuilt(name))
    return names.length === 0 ? [] : [`${group}:`, ...names.flatMap(flagLines), '']
  })
  return [
    'One URL per chain in front of all your node providers.',
    '',
    'Usage:',
    '  router <config.yml> [flags]',
    '  router validate <config.yml> [--output text|json] [flags]',
    '  router schema | version | help',
    '',
    'Commands:',
    ...Object.entries(commands).map(
      ([name, text]) => `  ${name.padEnd(10)} ${text.replaceAll('`', '')}`,
    ),
    '',
    'Flags. Each can stand in the config file too, under the same name without the dashes.',
    'A flag beats the environment, the environment beats the file, the file beats the default.',
    '',
    ...sections,
    'Environment:',
    '  SR_CONFIG      The config file, when none is given.',
    ...settingNames.flatMap((name) => {
      const { variable } = settings[name]
      return variable === null ? [] : [`  ${variable.padEnd(14)} Like --${name}.`]
    }),
    '',
    'Exit codes: 0 stopped cleanly, 1 failed while running, 2 wrong command line or config.',
    '',
  ].join('\n')
}

function flagLines(name: SettingName): readonly string[] {
  const { repeatable, default: defaultText, description } = settings[name]
  const valueName = valueNameOf(name)
  const notes = [
    ...(repeatable ? ['Repeatable.'] : []),
    ...(defaultText === null || valueName === null ? [] : [`Default: ${defaultText}.`]),
  ]
  const head = valueName === null ? `  --${name}` : `  --${name} <${valueName}>`
  return [head, ...wrap([description, ...notes].join(' ').replaceAll('`', ''))]
}

function wrap(text: string): readonly string[] {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    if (line.length + word.length > width) {
      lines.push(line.trimEnd())
      line = indent
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}
