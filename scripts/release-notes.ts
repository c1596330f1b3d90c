// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { releaseNotes } from './release/notes.ts'

// node scripts/release-notes.ts TAG   checks the versions against the tag, and prints its changelog

const read = (path: string): string => readFileSync(path, 'utf8')
const chart = parse(read('charts/rpc-router/Chart.yaml')) as Record<string, unknown>
const { version } = JSON.parse(read('package.json')) as { version: string }
process.stdout.write(
  releaseNotes(process.argv[2] ?? '', read('CHANGELOG.md'), {
    'the version in package.json': version,
    'the version of the chart': chart['version'],
    'the appVersion of the chart': chart['appVersion'],
  }),
)
