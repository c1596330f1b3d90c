// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Command, commandRows } from '../../proxy/cli/commands.ts'
import { commandHelp, helpText } from '../../proxy/cli/help.ts'
import { fillIn } from '../generate/fill-in.ts'

/** The text of `docs/reference/cli.md`. */
export function render(): string {
  return fillIn('docs/reference/cli.md', {
    help: ['```text', helpText().trimEnd(), '```'],
    commands: [
      '| Command | Meaning |',
      '|---|---|',
      ...Object.entries(commandRows).map(([name, { text }]) => `| \`router ${name}\` | ${text} |`),
    ],
    flags: (Object.keys(commandRows) as readonly Command[]).flatMap((name) => [
      ...[`### router help ${name}`, '', '```text', commandHelp(name).trimEnd(), '```', ''],
    ]),
  })
}
