// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ManifestText } from '../manifests/read-manifests.ts'
import type { CommandIo } from './command-io.ts'

/** A file that cannot be read, told in one sentence. */
export class UnreadableFileError extends Error {
  readonly code = 'OP_UNREADABLE_FILE'
  override readonly name = 'UnreadableFileError'
}

/**
 * Reads what -f names: files, directories with those below them (.yaml, .yml, .json), `-` for standard input.
 * @throws UnreadableFileError
 */
export async function readFiles(
  paths: readonly string[],
  stdin: CommandIo['stdin'],
): Promise<readonly ManifestText[]> {
  const texts: ManifestText[] = []
  for (const path of paths) {
    if (path === '-') texts.push({ name: 'standard input', text: await readAll(stdin) })
    else
      for (const file of await filesOf(path))
        texts.push({ name: file, text: await attempt(file, readFile(file, 'utf8')) })
  }
  return texts
}

async function filesOf(path: string): Promise<readonly string[]> {
  const found = await attempt(path, stat(path))
  if (!found.isDirectory()) return [path]
  const names = await attempt(path, readdir(path, { recursive: true }))
  return names
    .filter((name) => /\.(?:ya?ml|json)$/.test(name))
    .toSorted()
    .map((name) => join(path, name))
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
