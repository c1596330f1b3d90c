// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { kindKeyword } from '../config/fields/field.ts'
import { apiInterfaces } from '../config/fields/fields.ts'
import { nearest } from '../config/nearest.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'
import {
  type FlagValues,
  type SettingName,
  isSettingName,
  settingGroups,
  settingNames,
  settings,
} from '../config/settings.ts'

/** The commands of `router`, each with its sentence in `--help`. */
export const commands = {
  run: 'Serve. The default: `router config.yml` is `router run config.yml`.',
  validate: 'Check a config file and print every problem. Exit code 0 or 2.',
  doctor: 'Probe each URL of a config, and report what to change. Exit code 0 or 1.',
  replay: 'Replay recorded calls, and report different answers. Exit code 0 or 1.',
  init: 'Write a first config, from flags or from prompts on a terminal.',
  cache: 'Serve the cache that routers share as `cache-be`.',
  explain: 'Explain the routing of a call, by the guid in its header Rpc-Guid.',
  top: 'Show problems, upstreams and failed calls of running routers.',
  schema: 'Print the JSON Schema of the config file, for editors.',
  version: 'Print the version.',
  help: 'Print this text.',
} as const
export type Command = keyof typeof commands

/** The settings that these commands accept as flags; other commands accept all settings. */
const settingsOf: Partial<Record<Command, readonly string[]>> = {
  cache: 'cache-bytes metrics-listen-address drain-timeout log-level log-format'.split(' '),
  init: [],
  explain: [],
  top: [],
}

/** Positional arguments of these commands; others take a config file, or none. */
const argumentsOf: Partial<Record<Command, string>> = {
  cache: 'one address',
  explain: 'one guid',
  replay: 'one recording',
}

const outputFormats = ['text', 'json'] as const

/** Flags that are not settings, with the placeholder of their value and their commands. */
const ownFlags = {
  output: { valueName: outputFormats.join('|'), of: ['validate'], repeatable: false },
  json: { valueName: null, of: ['validate', 'top'], repeatable: false },
  record: { valueName: 'file', of: ['run'], repeatable: false },
  'record-bytes': { valueName: 'size', of: ['run'], repeatable: false },
  'record-without-params': { valueName: null, of: ['run'], repeatable: false },
  against: { valueName: 'config.yml', of: ['replay'], repeatable: false },
  rate: { valueName: 'calls a second', of: ['replay'], repeatable: false, isCount: true },
  chain: { valueName: 'id', of: ['init'], repeatable: false },
  interface: { valueName: apiInterfaces.join('|'), of: ['init'], repeatable: false },
  url: { valueName: 'url', of: ['init'], repeatable: true },
  at: { valueName: 'host:7779', of: ['explain', 'top'], repeatable: true },
  failed: { valueName: null, of: ['explain'], repeatable: false },
  slow: { valueName: null, of: ['explain'], repeatable: false },
  retried: { valueName: null, of: ['explain'], repeatable: false },
  upstream: { valueName: 'name', of: ['explain'], repeatable: false },
  once: { valueName: null, of: ['top'], repeatable: false },
} as const satisfies Record<string, OwnFlag>
interface OwnFlag {
  readonly valueName: string | null
  readonly of: readonly Command[]
  readonly repeatable: boolean
  readonly isCount?: true
}
type OwnFlagName = keyof typeof ownFlags

function isOwnFlag(name: string): name is OwnFlagName {
  return Object.hasOwn(ownFlags, name)
}
export type OutputFormat = (typeof outputFormats)[number]

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

const options: ParseArgsOptionsConfig = {
  ...Object.fromEntries(
    settingNames.map((name) => [name, { type: valueNameOf(name) === null ? 'boolean' : 'string' }]),
  ),
  ...Object.fromEntries(
    Object.entries(ownFlags).map(([name, { valueName }]) => [
      name,
      { type: valueName === null ? 'boolean' : 'string' },
    ]),
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
  const named = Object.hasOwn(commands, first) ? (first as Command) : null
  const flag = (['help', 'version'] as const).find((name) => values.has(name))
  const command = flag ?? named ?? 'run'
  const positionals = named === null ? words : words.slice(1)
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
      const { of }: OwnFlag = ownFlags[name]
      if (!of.includes(command))
        problems.push(problemAt(`--${name}`, null, `the flag is of ${of.join(' and ')} alone`))
    }
    const known = settingsOf[command] ?? settingNames
    const hint = known.length > 0 ? `Those of router ${command}: --${known.join(', --')}.` : null
    for (const name of [...values.keys()].filter(isSettingName))
      if (!known.includes(name))
        problems.push(problemAt(`--${name}`, null, `the flag is not of router ${command}`, hint))
  }
  const flags = Object.fromEntries([...values].filter(([name]) => isSettingName(name)))
  const own = Object.fromEntries([...values].filter(([name]) => isOwnFlag(name)))
  return { command, positionals, flags, output: output ?? 'text', own, problems }
}

/** The config file to use: the argument, otherwise `SR_CONFIG`; null if there is neither. */
export function configPathOf(
  positionals: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  return positionals[0] ?? (environment['SR_CONFIG'] || null)
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
    const hint = near === null ? 'See router --help.' : `Did you mean --${near}?`
    return problemAt(flag, null, `unknown flag ${quote(flag)}`, hint)
  }
  const value = given ?? (options[name]?.type === 'boolean' ? 'true' : undefined)
  const valueName = isSettingName(name)
    ? valueNameOf(name)
    : isOwnFlag(name) && ownFlags[name].valueName
  // `-1` is a value, `--strategy` and `-h` are not.
  if (value === undefined || (!inlineValue && /^-(?!\d)/.test(value)))
    return problemAt(flag, null, 'the value is missing', `Write ${flag} <${valueName}>.`)
  if (value === '') return problemAt(flag, null, 'the value is empty')
  const known = values.get(name) ?? []
  const isRepeatable = isSettingName(name)
    ? settings[name].repeatable
    : isOwnFlag(name) && ownFlags[name].repeatable
  if (known.length > 0 && !isRepeatable)
    return problemAt(flag, null, 'the flag is given twice', 'Keep one of them.')
  const { isCount }: Partial<OwnFlag> = isOwnFlag(name) ? ownFlags[name] : {}
  if (isCount && !/^[1-9]\d{0,8}$/.test(value))
    return problemAt(flag, null, `${quote(value)} is not a whole number from 1`)
  values.set(name, [...known, value])
  return null
}

function checkPositionals(command: Command, rest: readonly string[]): readonly Problem[] {
  const takeOne = ['run', 'validate', 'doctor', 'replay', 'init', 'cache', 'explain']
  const most = takeOne.includes(command) ? 1 : 0
  const extra = rest[most]
  if (extra === undefined) return []
  // In `router valdate config.yml`, the first word is a misspelt command.
  const meant = command === 'run' ? nearest(rest[0] ?? '', Object.keys(commands)) : null
  if (meant !== null) {
    const message = `unknown command ${quote(rest[0] ?? '')}`
    return [problemAt('', null, message, `Did you mean ${meant}?`)]
  }
  const { [command]: one = 'one config file' } = argumentsOf
  const hint = `router ${command} takes ${most === 1 ? one : 'no arguments'}.`
  return [problemAt('', null, `unexpected argument ${quote(extra)}`, hint)]
}

/** The text of `router --help`, with lines shorter than 100 columns. */
export function helpText(): string {
  const sections = Object.entries(settingGroups).flatMap(([group, rows]) => {
    return [`${group}:`, ...(Object.keys(rows) as SettingName[]).flatMap(flagLines), '']
  })
  return [
    'One URL per chain in front of all your node providers.',
    '',
    'Usage:',
    '  router <config.yml> [flags]',
    '  router validate <config.yml> [--output text|json] [flags]',
    '  router doctor <config.yml> [flags]',
    '  router <config.yml> --record file [--record-bytes size] [--record-without-params]',
    '  router replay <file> --against <config.yml> [--rate n] [flags]',
    '  router init [config.yml] [--chain id [--interface name] --url url [--url url ...]]',
    '  router cache [host:port] [flags]',
    '  router explain <guid> [--at host:7779,...]',
    '  router explain --failed | --slow | --retried [--upstream name] [--at host:7779,...]',
    '  router explain --upstream name [--at host:7779,...]',
    '  router top [--at host:7779,...] [--once | --json]',
    '  router schema | version | help',
    '',
    'With --at they ask the admin addresses of all replicas; the default is 127.0.0.1:7779.',
    '',
    'Commands:',
    ...Object.entries(commands).map(
      ([name, text]) => `  ${name.padEnd(10)} ${text.replaceAll('`', '')}`,
    ),
    '',
    'Flags. Each can be in the config file too, under the same name without the dashes.',
    'Flags override the environment, which overrides the file, which overrides the defaults.',
    '',
    ...sections,
    'Environment:',
    '  SR_CONFIG      Config file if none is named; default: the Ethereum example.',
    ...settingNames.flatMap((name) => {
      const { variable } = settings[name]
      return variable === null ? [] : [`  ${variable.padEnd(14)} Like --${name}.`]
    }),
    '  OTEL_*         The standard variables of OpenTelemetry. Without them tracing is off.',
    '',
    'Exit codes: 0 stopped cleanly, 1 failed while running, 2 wrong command line or config.',
    '',
  ].join('\n')
}

/** Placeholder of a flag's value; null for a switch. */
function valueNameOf(name: SettingName): string | null {
  const { enum: words, [kindKeyword]: kind } = settings[name].field.meta() ?? {}
  if (Array.isArray(words)) return words.join('|')
  const [first = ''] = String(kind).split(/,| or | of /)
  return first === 'true' ? null : first
}

function flagLines(name: SettingName): readonly string[] {
  const { repeatable, default: defaultText, description } = settings[name]
  const valueName = valueNameOf(name)
  const notes = [
    ...(repeatable ? ['Repeatable.'] : []),
    ...(defaultText === null || valueName === null ? [] : [`Default: ${defaultText}.`]),
  ]
  const head = valueName === null ? `  --${name}` : `  --${name} <${valueName}>`
  const text = [description, ...notes].join(' ').replaceAll('`', '')
  const lines = text.match(/.{1,90}(?: |$)/g) ?? []
  return [head, ...lines.map((line) => `      ${line.trimEnd()}`)]
}
