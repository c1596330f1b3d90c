// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { lstat, readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileProblem } from '../spec-error.ts'
import type { SpecProblem } from '../spec-error.ts'
import { isSpecName, sourceLimits } from './spec-file.ts'
import type { SourceFiles, SpecFile } from './spec-file.ts'

/** Reads a file, or a directory with those below it. */
export async function readLocal(source: string): Promise<SourceFiles> {
  try {
    const found = await stat(source)
    if (found.isDirectory()) return await readDirectory(source)
    const { file, problem } = await readSpecFile(source)
    return { kind: 'file', files: file ? [file] : [], problems: problem ? [problem] : [] }
  } catch (cause) {
    return { kind: 'file', files: [], problems: [unreadable(source, cause)] }
  }
}

async function readDirectory(source: string): Promise<SourceFiles> {
  const names: string[] = []
  const problems: SpecProblem[] = []
  await collect(source, names)
  if (names.length > sourceLimits.files)
    return { kind: 'directory', files: [], problems: [fileProblem(source, tooMany)] }
  const read = await Promise.all(names.toSorted().map(readSpecFile))
  const files = read.flatMap(({ file }) => (file ? [file] : []))
  problems.push(...read.flatMap(({ problem }) => (problem ? [problem] : [])))
  return { kind: 'directory', files, problems }
}

const tooMany = `holds more than ${sourceLimits.files} YAML and JSON files. Name the directory of the chain specs.`

/** Names below a directory; those that begin with a dot, and `node_modules`, are left out. */
async function collect(directory: string, names: string[]): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (names.length > sourceLimits.files) return
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await collect(path, names)
    else if (isSpecName(entry.name) && (entry.isFile() || entry.isSymbolicLink())) names.push(path)
  }
}

async function readSpecFile(
  path: string,
): Promise<{ readonly file?: SpecFile; readonly problem?: SpecProblem }> {
  try {
    const found = await stat(path)
    if (!found.isFile())
      // A mounted ConfigMap links its directories too.
      return found.isDirectory() && (await lstat(path)).isSymbolicLink()
        ? {}
        : { problem: fileProblem(path, 'is no file.') }
    if (found.size > sourceLimits.fileBytes)
      return {
        problem: fileProblem(path, `is longer than ${sourceLimits.fileBytes >> 20} MiB.`),
      }
    return { file: { file: path, text: await readFile(path, 'utf8') } }
  } catch (cause) {
    return { problem: unreadable(path, cause) }
  }
}

function unreadable(path: string, cause: unknown): SpecProblem {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return fileProblem(path, 'does not exist.', 'Give a file, a directory, or an http(s) URL.')
  if (code === 'EACCES') return fileProblem(path, 'may not be read by this user.')
  return fileProblem(path, `cannot be read: ${message}.`)
}
