// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainNames } from '../chain/types.ts'
import { type SettingName, settingGroups, settingNames, settings } from '../config/settings.ts'
import {
  type Command,
  commandRows,
  isOwnFlag,
  type OwnFlagName,
  ownFlagsOf,
  ownRows,
  settingsOf,
  valueNameOf,
} from './commands.ts'

const allCommands = Object.keys(commandRows) as readonly Command[]

/** The text of `router --help`, with lines shorter than 100 columns. */
export function helpText(): string {
  return lines(
    'One URL per chain in front of all your node providers.',
    '',
    'Usage:',
    '  router --chain ETH1 --url https://eth.example.com/v2/KEY   without a file',
    '  router init                                                write a config.yml',
    '  router [config.yml] [flags]                                serve it',
    '',
    'Commands. router help <command> explains one, with its flags and exit codes.',
    ...allCommands.map((name) => `  ${name.padEnd(10)} ${plain(commandRows[name].text)}`),
    '',
    'Environment:',
    '  SR_CONFIG      Config file if none is named; default: config.yml in this folder.',
    ...settingNames.flatMap((name) => {
      const { variable } = settings[name]
      return variable === null ? [] : [`  ${variable.padEnd(14)} Like --${name}.`]
    }),
    '  OTEL_*         The standard variables of OpenTelemetry. Without them tracing is off.',
    '',
    exitWords,
  )
}

/** The text of `router help <command>`. */
export function commandHelp(command: Command): string {
  const { text, argument } = commandRows[command]
  const own = ownFlagsOf(command)
  const accepted = new Set(settingsOf(command))
  const groups = Object.entries(settingGroups).flatMap(([group, rows]) => {
    const names = (Object.keys(rows) as SettingName[]).filter((name) => accepted.has(name))
    return names.length > 0 ? ['', `${group}:`, ...names.flatMap(flagLines)] : []
  })
  const isAll = accepted.size === settingNames.length
  // The settings are the same for each of these commands.
  const shown = isAll && command !== 'run' ? ['', seeRun] : groups
  const usage = ['router', command, ...(argument ? [argument] : [])].join(' ')
  const hasFlags = own.length > 0 || accepted.size > 0
  return lines(
    plain(text),
    '',
    `Usage: ${usage}${hasFlags ? ' [flags]' : ''}`,
    ...(argument?.includes('config.yml') && isAll ? ['', ofFile] : []),
    ...(own.length > 0 ? ['', 'Flags:', ...own.flatMap(flagLines)] : []),
    ...(isAll && command === 'run' ? ['', ofSettings] : []),
    ...shown,
    '',
    exitWords,
  )
}

const exitWords = 'Exit codes: 0 success, 1 the work failed, 2 wrong command line or config.'
const ofFile =
  'Without a file: SR_CONFIG, else config.yml in this folder. A dash reads standard input.'
const seeRun = 'It also takes every setting of the config as a flag: see router help run.'
const ofSettings = `Each of the following can be in the config file too, under its name without the dashes.
Flags override the environment, which overrides the file, which overrides the defaults.`

const lines = (...all: readonly string[]) => `${all.join('\n')}\n`
const plain = (text: string) => text.replaceAll('`', '')

function wrapped(text: string, indent: string): readonly string[] {
  return (text.match(/.{1,90}(?: |$)/g) ?? []).map((line) => indent + line.trimEnd())
}

function flagLines(name: SettingName | OwnFlagName): readonly string[] {
  const isOwn = isOwnFlag(name)
  const { repeatable = false } = isOwn ? ownRows[name] : settings[name]
  const text = isOwn ? ownRows[name].text : settings[name].description
  const usual = isOwn ? null : settings[name].default
  const valueName = valueNameOf(name)
  const notes = [
    ...(repeatable ? ['Repeatable.'] : []),
    ...(usual === null || valueName === null ? [] : [`Default: ${usual}.`]),
  ]
  const head = valueName === null ? `  --${name}` : `  --${name} <${valueName}>`
  return [head, ...wrapped(plain([text, ...notes].join(' ')), '      ')]
}

/**
 * Completes the last of the words behind `router`. Without a candidate, shells offer files.
 * @param chains the values of `--chain`
 */
export function completions(
  words: readonly string[],
  chains: readonly ChainNames[],
): readonly string[] {
  const [typed = '', before = ''] = words.toReversed()
  const first = words.find((word) => !word.startsWith('-')) ?? ''
  const command = Object.hasOwn(commandRows, first) && words.length > 1 ? (first as Command) : 'run'
  const flags = [...ownFlagsOf(command), ...settingsOf(command)]
  const flag = before.replace(/^--/, '')
  const value = before.startsWith('--') && flags.includes(flag) && valueNameOf(flag as SettingName)
  const names = chains.flatMap(({ id, aliases }) => [id, ...aliases])
  const candidates =
    flag === 'chain' && value
      ? /^[A-Z]/.test(typed)
        ? names
        : names.map((name) => name.toLowerCase())
      : value
        ? value.split('|').slice(value.includes('|') ? 0 : 1)
        : typed.startsWith('-')
          ? [...flags, 'help'].map((name) => `--${name}`)
          : words.length === 1 || before === 'help'
            ? allCommands
            : command === 'completion'
              ? Object.keys(scripts)
              : []
  return candidates.filter((each) => each.startsWith(typed))
}

/** Completion scripts, which ask the program for candidates. */
export const scripts: Readonly<Record<string, string>> = {
  bash: `_router() {
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  mapfile -t COMPREPLY < <("$1" completion -- "\${typed[@]}" 2>/dev/null)
}
complete -o default -F _router router rpc-router
`,
  zsh: `#compdef router rpc-router
_router() {
  local -a found
  found=(\${(f)"$("$words[1]" completion -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _router router rpc-router
`,
  fish: `for name in router rpc-router
  complete -c $name -a '(set -l words (commandline -opc) (commandline -ct); $words[1] completion -- $words[2..] 2>/dev/null)'
end
`,
}
