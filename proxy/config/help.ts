// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUnbuilt } from './capabilities.ts'
import { commands } from './command-line.ts'
import { settingGroups, settingNames, settings, type SettingName, valueNameOf } from './settings.ts'

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
