// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { commands } from '../../proxy/cli/command-line.ts'
import { helpText } from '../../proxy/cli/command-line.ts'

/** The text of `docs/reference/cli.md`. */
export function render(): string {
  return [
    '<!-- Generated from proxy/config. Do not edit. -->',
    '',
    '# Command line',
    '',
    '```text',
    helpText().trimEnd(),
    '```',
    '',
    '## Commands',
    '',
    '| Command | Meaning |',
    '|---|---|',
    ...Object.entries(commands).map(([name, meaning]) => `| \`router ${name}\` | ${meaning} |`),
    '',
    'A config file that is called like a command is named with its directory: `router ./validate`.',
    '',
    '## Flags',
    '',
    'Values are written `--flag value` or `--flag=value`. A switch needs no value; `--flag=false` switches off what the file',
    'switches on. An unknown flag, a missing value, and a flag given twice that is not repeatable are refused. What each',
    'setting means, and its limits, is in [config.md](config.md).',
    '',
    'A repeatable flag replaces the list of the file; it does not add to it.',
    '',
    '## router validate',
    '',
    'One line per problem on stderr, and one line on stdout when the file is right:',
    '',
    '```text',
    'router.yml:4:20: error: endpoints[0].api-interface: "json-rpc" is not one of the allowed values. Did you mean jsonrpc? Allowed: jsonrpc, rest, tendermintrpc, grpc.',
    '```',
    '',
    '`--output json` prints one document on stdout instead:',
    '',
    '```json',
    JSON.stringify(
      {
        version: 1,
        file: 'router.yml',
        valid: false,
        problems: [
          {
            severity: 'error',
            path: 'endpoints[0].chain',
            line: 3,
            column: 5,
            message: 'unknown key "chain"',
            hint: 'Did you mean "chain-id"?',
          },
        ],
      },
      null,
      2,
    ),
    '```',
    '',
    '`line` and `column` count from 1 and are null where the file has no such place; `hint` can be null. `severity` is `error` or',
    '`warning`; a file with warnings alone is valid.',
    '',
  ].join('\n')
}
