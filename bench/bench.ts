// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measure } from './measure.ts'
import { pageOf, tableOf, verdictsOf } from './report.ts'
import { rows } from './rows.ts'
import { scratchDirectory } from './scratch-directory.ts'
import { findNginx } from './targets.ts'

const usage = `Compares the router with nginx and with a bare pass-through, in turns, over three mock upstreams.

  make bench [BENCH_ARGS="--rounds 3 --seconds 3 --row read --write"]

  --rounds N         turns of each target (default 3)
  --seconds N        length of one turn (default 3)
  --row NAME         this row only, repeatable: ${rows.map(({ name }) => name).join(', ')}
  --nginx PATH       the nginx to compare with (default: nginx)
  --without-nginx    leave nginx out
  --write            write bench/results/latest.md and latest.json
`
const results = fileURLToPath(new URL('results/', import.meta.url))
try {
  await main()
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '3' },
      row: { type: 'string', multiple: true, default: [] },
      nginx: { type: 'string', default: 'nginx' },
      'without-nginx': { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return
  }
  const directory = scratchDirectory('bench')
  const only = values.row.map(rowName)
  const chosen = rows.filter(({ name }) => only.length === 0 || only.includes(name))
  const needsNginx = chosen.some(({ targets }) => targets.includes('nginx'))
  const result = await measure({
    rounds: wholeNumber('--rounds', values.rounds, 100),
    seconds: wholeNumber('--seconds', values.seconds, 600),
    only,
    nginx: values['without-nginx'] || !needsNginx ? null : findNginx(values.nginx),
    directory,
    progress: (text) => process.stderr.write(`${text}\n`),
  })
  process.stdout.write(`\n${tableOf(result)}\n\n`)
  for (const verdict of verdictsOf(result)) process.stdout.write(`${verdict}\n`)
  if (!values.write) return
  await mkdir(results, { recursive: true })
  await writeFile(join(results, 'latest.md'), pageOf(result))
  await writeFile(join(results, 'latest.json'), `${JSON.stringify(result, null, 2)}\n`)
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value
  throw new Error(`${flag} must be a whole number from 1 to ${max}, not "${text}"`)
}

function rowName(name: string): string {
  if (rows.some((row) => row.name === name)) return name
  throw new Error(`--row must be one of ${rows.map((row) => row.name).join(', ')}, not "${name}"`)
}
