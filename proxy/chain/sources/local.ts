// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Problem } from '../../config/problem.ts'
import { fileProblem } from '../document.ts'

/** One file of a source, as text. */
export interface SpecFile {
  /** As it is shown in messages. */
  readonly file: string
  readonly text: string
}

/** All that one source holds. */
export interface SourceFiles {
  readonly files: readonly SpecFile[]
  readonly problems: readonly Problem[]
  /** `file`: named by the user, must be a spec; `archive`: other people's files lie beside. */
  readonly kind: 'file' | 'directory' | 'archive'
}

/** Limits on what a source may hold; a catalog of a hundred chains is about 3 MB. */
export const sourceLimits = {
  fileBytes: 8 * 2 ** 20,
  totalBytes: 64 * 2 ** 20,
  files: 5_000,
  downloadMs: 30_000,
}
export type SourceLimits = typeof sourceLimits

/** Whether a name is one of a file that may be a spec. */
export function isSpecName(name: string): boolean {
  return /\.(ya?ml|json)$/i.test(name)
}

/** Reads a file, or a directory with those below it. */
export async function readLocal(source: string): Promise<SourceFiles> {
  const found = await stat(source).catch(() => null)
  const kind = found?.isDirectory() ? 'directory' : 'file'
  const problems: Problem[] = []
  try {
    const names = kind === 'file' ? [source] : await namesBelow(source)
    if (names.length > sourceLimits.files) {
      const tooMany = `holds more than ${sourceLimits.files} YAML and JSON files. Name the directory of the chain specs.`
      return { kind, files: [], problems: [fileProblem(source, tooMany)] }
    }
    const files = await Promise.all(names.toSorted().map((name) => readSpecFile(name, problems)))
    return { kind, files: files.filter((file) => file !== null), problems }
  } catch (cause) {
    return { kind, files: [], problems: [unreadable(source, cause)] }
  }
}

/** Names below a directory; those that begin with a dot, and `node_modules`, are left out. */
async function namesBelow(directory: string, names: string[] = []): Promise<string[]> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (names.length > sourceLimits.files) break
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await namesBelow(path, names)
    else if (isSpecName(entry.name) && (entry.isFile() || entry.isSymbolicLink())) names.push(path)
  }
  return names
}

async function readSpecFile(path: string, problems: Problem[]): Promise<SpecFile | null> {
  try {
    const found = await stat(path)
    // A mounted ConfigMap links its directories too.
    if (found.isDirectory()) return null
    if (found.isFile() && found.size <= sourceLimits.fileBytes)
      return { file: path, text: await readFile(path, 'utf8') }
    const tooLong = `is longer than ${sourceLimits.fileBytes >> 20} MiB.`
    problems.push(fileProblem(path, found.isFile() ? tooLong : 'is no file.'))
  } catch (cause) {
    problems.push(unreadable(path, cause))
  }
  return null
}

function unreadable(path: string, cause: unknown): Problem {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return fileProblem(path, 'does not exist.', 'Give a file, a directory, or an http(s) URL.')
  if (code === 'EACCES') return fileProblem(path, 'may not be read by this user.')
  return fileProblem(path, `cannot be read: ${message}.`)
}
