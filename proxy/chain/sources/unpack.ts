// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Header as EntryHeader } from 'tar-stream'
import { isSpecName } from './spec-file.ts'
import type { sourceLimits, SpecFile } from './spec-file.ts'

/** An archive that cannot be used, told as the user needs it: a sentence without its subject. */
export class ArchiveFailure extends Error {
  override readonly name = 'ArchiveFailure'
}

/** The limits that hold for one archive. */
export type ArchiveLimits = { readonly [Key in keyof typeof sourceLimits]: number }

/**
 * The YAML and JSON files of a `.tar.gz`. Nothing is written to disk, so a path in the archive is only a
 * name; links are not followed. `folder` is where they must be: empty for anywhere, else it ends in `/`.
 * @throws ArchiveFailure, or the error of a broken archive
 */
export async function unpack(
  packed: Buffer,
  shown: string,
  folder: string,
  limits: ArchiveLimits,
): Promise<SpecFile[]> {
  if (packed.length < 2) throw new ArchiveFailure('answered with nothing.')
  if (packed.readUInt16BE() !== 0x1f8b) throw new ArchiveFailure(notGzip(packed))
  const archive = extract()
  archive.end(await unzip(packed, limits))
  const files: SpecFile[] = []
  let entries = 0
  for await (const entry of archive) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    const { header } = entry
    if (isWanted(header, folder, limits))
      files.push({ file: `${shown}!${header.name}`, text: Buffer.concat(chunks).toString() })
    if (++entries > limits.entries || files.length > limits.files)
      throw new ArchiveFailure('holds more files than a specs repository would.')
  }
  return files.toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

async function unzip(packed: Buffer, limits: ArchiveLimits): Promise<Buffer> {
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: limits.totalBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw cause
    throw new ArchiveFailure(`unpacks to more than ${limits.totalBytes >> 20} MiB.`)
  }
}

/** Regular files that may be specs, with a name that stays inside the archive. */
function isWanted(header: EntryHeader, folder: string, limits: ArchiveLimits): boolean {
  const { name, type, size } = header
  const steps = name.split('/')
  const stays = !name.startsWith('/') && !name.includes('\\') && !steps.includes('..')
  const hidden = steps.some((step) => step.startsWith('.') || step === 'node_modules')
  // Repository archives have everything in one folder of their own.
  const inFolder = name.startsWith(folder) || name.slice(name.indexOf('/') + 1).startsWith(folder)
  return (
    type === 'file' && inFolder && stays && !hidden && isSpecName(name) && size <= limits.fileBytes
  )
}

function notGzip(head: Buffer): string {
  const isPage = head.subarray(0, 64).toString('latin1').trimStart().startsWith('<')
  const kind = isPage ? 'is a web page' : 'is no gzip archive'
  return `${kind}. Give the URL of a \`.tar.gz\` archive of the repository.`
}
