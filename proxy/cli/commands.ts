// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { kindKeyword } from '../config/fields/field.ts'
import { apiInterfaces } from '../config/fields/fields.ts'
import { type SettingName, settingNames, settings } from '../config/settings.ts'

/* The tables of the command line, from which parser, help, completion and reference follow. */

interface CommandRow {
  /** One sentence, for the list of commands. */
  readonly text: string
  /** The argument that the command takes; null: none. */
  readonly argument: string | null
  /** Settings that it accepts as flags; absent: all. */
  readonly settings?: readonly string[]
}

const file = '[config.yml]'
const ofCache = 'cache-bytes metrics-listen-address drain-timeout log-level log-format'.split(' ')
const bare = { argument: null, settings: [] } as const

const commands = {
  run: {
    text: 'Serve. The default: `router config.yml` is `router run config.yml`.',
    argument: file,
  },
  init: {
    text: 'Write a first config, from flags or from prompts on a terminal.',
    ...{ argument: file, settings: ['env-file'] },
  },
  validate: {
    text: 'Check a config file and print every problem. Exit code 0 or 2.',
    argument: file,
  },
  doctor: {
    text: 'Probe each URL of a config, and report what to change. Exit code 0 or 1.',
    argument: file,
  },
  config: { text: 'Print the long form of a config, with all that it implies.', argument: file },
  top: { text: 'Show problems, upstreams and failed calls of running routers.', ...bare },
  status: { text: 'Print once what `router top` shows. Exit code 0 or 1.', ...bare },
  explain: {
    text: 'Explain the routing of a call, by the guid in its header Rpc-Guid.',
    ...{ argument: '[guid]', settings: [] },
  },
  replay: {
    text: 'Replay recorded calls, and report different answers. Exit code 0 or 1.',
    argument: '<recording>',
  },
  cache: {
    text: 'Serve the cache that routers share as `cache-be`.',
    ...{ argument: '[host:port]', settings: ofCache },
  },
  schema: { text: 'Print the JSON Schema of the config file, for editors.', ...bare },
  completion: {
    text: 'Print the completion script of a shell.',
    ...{ argument: '<bash|zsh|fish>', settings: [] },
  },
  version: { text: 'Print the version.', ...bare },
  help: { text: 'Explain a command, with its flags.', argument: '[command]', settings: [] },
} as const satisfies Record<string, CommandRow>
export type Command = keyof typeof commands
/** The commands of `router`. */
export const commandRows: Readonly<Record<Command, CommandRow>> = commands

export function isCommand(word: string): word is Command {
  return Object.hasOwn(commands, word)
}

/** Settings that a command accepts as flags. */
export function settingsOf(command: Command): readonly string[] {
  return commandRows[command].settings ?? settingNames
}

export const outputFormats = ['text', 'json'] as const
export type OutputFormat = (typeof outputFormats)[number]

interface OwnFlag {
  /** Placeholder of the value; null: a switch. */
  readonly valueName: string | null
  readonly of: readonly Command[]
  readonly text: string
  readonly repeatable?: true
  readonly isCount?: true
}

const serving = ['run', 'init', 'validate', 'doctor', 'config'] as const
const asking = ['top', 'status', 'explain'] as const

const ownFlags = {
  chain: {
    ...{ valueName: 'name', of: serving },
    text: 'Instead of a file: the chain, such as ETH1, base or evm:8453. Unset: the chain of the URLs, which the router asks.',
  },
  url: {
    ...{ valueName: 'url', of: serving, repeatable: true },
    text: 'Instead of a file: a URL of a node, served on 127.0.0.1:3360.',
  },
  interface: {
    ...{ valueName: apiInterfaces.join('|'), of: serving },
    text: 'The interface of the URLs, for chains with several.',
  },
  output: {
    ...{ valueName: outputFormats.join('|'), of: ['validate'] },
    text: 'How to print the problems.',
  },
  json: { valueName: null, of: ['validate', 'top', 'status'], text: 'Print JSON.' },
  full: { valueName: null, of: ['config'], text: 'Print every default too.' },
  record: { valueName: 'file', of: ['run'], text: 'Record the calls, for router replay.' },
  'record-bytes': { valueName: 'size', of: ['run'], text: 'Largest size of the recording.' },
  'record-without-params': { valueName: null, of: ['run'], text: 'Record no parameters.' },
  against: { valueName: 'config.yml', of: ['replay'], text: 'The config to replay through.' },
  rate: {
    ...{ valueName: 'calls a second', of: ['replay'], isCount: true },
    text: 'How fast to replay. Default: 20.',
  },
  at: {
    ...{ valueName: 'host:7779', of: asking, repeatable: true },
    text: 'Admin addresses of the routers, separated by commas. Default: 127.0.0.1:7779.',
  },
  failed: { valueName: null, of: ['explain'], text: 'List the last calls that failed.' },
  slow: { valueName: null, of: ['explain'], text: 'List the last calls that took over a second.' },
  retried: { valueName: null, of: ['explain'], text: 'List the last calls that a retry rescued.' },
  upstream: {
    ...{ valueName: 'name', of: ['explain'] },
    text: 'List the last calls that asked this upstream.',
  },
  once: { valueName: null, of: ['top'], text: 'Print once, as router status does.' },
} as const satisfies Record<string, OwnFlag>
export type OwnFlagName = keyof typeof ownFlags
/** Flags that are not settings. */
export const ownRows: Readonly<Record<OwnFlagName, OwnFlag>> = ownFlags

export function isOwnFlag(name: string): name is OwnFlagName {
  return Object.hasOwn(ownFlags, name)
}

/** Flags of a command that are not settings. */
export function ownFlagsOf(command: Command): readonly OwnFlagName[] {
  return Object.keys(ownFlags)
    .filter(isOwnFlag)
    .filter((name) => ownRows[name].of.includes(command))
}

/** Placeholder of a flag's value; null for a switch. */
export function valueNameOf(name: SettingName | OwnFlagName): string | null {
  if (isOwnFlag(name)) return ownRows[name].valueName
  const { enum: words, [kindKeyword]: kind } = settings[name].field.meta() ?? {}
  if (Array.isArray(words)) return words.join('|')
  const [first = ''] = String(kind).split(/,| or | of /)
  return first === 'true' ? null : first
}
