// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const notOurs = ['node_modules', '.git', 'dist', 'coverage', '.cache']

/** Paths of the project's files from its root: tracked and new ones, or all of an archive. */
export function projectFiles(): readonly string[] {
  const paths = existsSync(join(root, '.git'))
    ? execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
        cwd: root,
        encoding: 'utf8',
      }).split('\0')
    : globSync('**', { cwd: root, exclude: (name) => notOurs.includes(name) })
  return paths
    .filter(
      (path) => path !== '' && statSync(join(root, path), { throwIfNoEntry: false })?.isFile(),
    )
    .toSorted()
}

/** The text of a project file. */
export function projectText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
