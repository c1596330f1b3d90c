// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Installs the packages of a project unless those of its lockfile exist. */
export async function installProject(project: string): Promise<void> {
  const lockfile = await readFile(join(project, 'package-lock.json'), 'utf8')
  const stamp = join(project, 'node_modules/.installed')
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === lockfile) return
  process.stderr.write(`Installing the packages of ${project} (npm ci) ...\n`)
  await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: project })
  await writeFile(stamp, lockfile)
}
