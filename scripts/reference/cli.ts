// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { commands, helpText } from '../../proxy/cli/command-line.ts'
import { fillIn } from '../generate/fill-in.ts'

/** The text of `docs/reference/cli.md`. */
export function render(): string {
  return fillIn('docs/reference/cli.md', {
    help: ['```text', helpText().trimEnd(), '```'],
    commands: [
      '| Command | Meaning |',
      '|---|---|',
      ...Object.entries(commands).map(([name, meaning]) => `| \`router ${name}\` | ${meaning} |`),
    ],
  })
}
