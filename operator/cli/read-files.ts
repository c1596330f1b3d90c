// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ManifestText } from '../manifests/read-manifests.ts'
import type { CommandIo } from './command-io.ts'

/** A file that cannot be read, told in one sentence. */
export class UnreadableFileError extends Error {
  readonly code = 'OP_UNREADABLE_FILE'
  override readonly name = 'UnreadableFileError'
}

/**
 * Reads what -f names: files, directories with those below them (.yaml, .yml, .json), `-` for standard input. No file is
 * read twice, by whatever names it is reached.
 * @throws UnreadableFileError
 */
export async function readFiles(
  paths: readonly string[],
  stdin: CommandIo['stdin'],
): Promise<readonly ManifestText[]> {
  const texts: ManifestText[] = []
  const seen = new Set<string>()
  for (const path of paths) {
    if (path === '-') texts.push({ name: 'standard input', text: await readAll(stdin) })
    else
      for (const file of await filesOf(path)) {
        const identity = await attempt(file, identityOf(file))
        if (seen.has(identity)) continue
        seen.add(identity)
        texts.push({ name: file, text: await attempt(file, readFile(file, 'utf8')) })
      }
  }
  return texts
}

async function filesOf(path: string): Promise<readonly string[]> {
  const found = await attempt(path, stat(path))
  return found.isDirectory() ? (await filesBelow(path)).toSorted() : [path]
}

/**
 * Links to files count, links to directories do not: they may lead back. Nor do directories such as `..2026_01_31`, which
 * hold the files of a mounted ConfigMap that links beside them lead to.
 */
async function filesBelow(directory: string): Promise<readonly string[]> {
  const files: string[] = []
  for (const entry of await attempt(directory, readdir(directory, { withFileTypes: true }))) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('..')) files.push(...(await filesBelow(path)))
    } else if (/\.(?:ya?ml|json)$/.test(entry.name) && (await attempt(path, stat(path))).isFile())
      files.push(path)
  }
  return files
}

/** A pipe, such as that of `-f <(kustomize build)`, has no path but the one that it was given by. */
async function identityOf(file: string): Promise<string> {
  return (await stat(file)).isFile() ? realpath(file) : file
}

async function attempt<T>(path: string, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new UnreadableFileError(`${path}: ${why}`, { cause })
  }
}

async function readAll(stdin: CommandIo['stdin']): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stdin)
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return Buffer.concat(chunks).toString()
}
