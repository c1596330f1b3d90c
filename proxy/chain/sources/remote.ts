// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Header as EntryHeader } from 'tar-stream'
import { fileProblem } from '../document.ts'
import { isSpecName, sourceLimits } from './local.ts'
import type { SourceFiles, SourceLimits, SpecFile } from './local.ts'

/** An archive that cannot be used, told as the user needs it: a sentence without its subject. */
class ArchiveFailure extends Error {
  override readonly name = 'ArchiveFailure'
}

/**
 * Downloads a `.tar.gz` archive and gives the YAML and JSON files in it, or in the folder of it
 * that the URL names behind a `#`.
 */
export async function readArchive(
  source: string,
  limits: SourceLimits = sourceLimits,
): Promise<SourceFiles> {
  const url = URL.parse(source)
  // A query may be secret.
  const shown = url === null ? 'the spec URL' : `${url.origin}${url.pathname}`
  try {
    if (url === null) throw new ArchiveFailure('is no URL.')
    const archive = await unzip(await download(url, limits), limits)
    const files = await unpack(archive, shown, decodeURIComponent(url.hash.slice(1)), limits)
    if (files.length === 0)
      throw new ArchiveFailure(
        'holds no YAML or JSON file there. Name an archive of a specs repository.',
      )
    return { kind: 'archive', files, problems: [] }
  } catch (cause) {
    return { kind: 'archive', files: [], problems: [fileProblem(shown, explain(cause, limits))] }
  }
}

async function download(url: URL, limits: SourceLimits): Promise<Buffer> {
  const signal = AbortSignal.timeout(limits.downloadMs)
  // Otherwise the runtime would take the archive's own compression for the transfer's.
  const response = await fetch(url, { headers: { 'accept-encoding': 'identity' }, signal })
  if (url.protocol === 'https:' && response.url.startsWith('http:'))
    throw new ArchiveFailure('redirects from https to http, which is refused.')
  if (response.status === 404)
    throw new ArchiveFailure(
      'does not exist (HTTP 404). Give the URL of a `.tar.gz` archive, such as `https://github.com/<owner>/<repository>/archive/refs/heads/main.tar.gz`.',
    )
  if (response.status !== 200) throw new ArchiveFailure(`answered with HTTP ${response.status}.`)
  const tooLong = new ArchiveFailure(`is longer than ${limits.archiveBytes >> 20} MiB.`)
  if (Number(response.headers.get('content-length') ?? 0) > limits.archiveBytes) throw tooLong
  const chunks: Uint8Array[] = []
  let bytes = 0
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > limits.archiveBytes) throw tooLong
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function unzip(packed: Buffer, limits: SourceLimits): Promise<Buffer> {
  if (packed.length < 2) throw new ArchiveFailure('answered with nothing.')
  if (packed.readUInt16BE() !== 0x1f8b) {
    const isPage = packed.toString('latin1', 0, 64).trimStart().startsWith('<')
    const kind = isPage ? 'is a web page' : 'is no gzip archive'
    throw new ArchiveFailure(`${kind}. Give the URL of a \`.tar.gz\` archive of the repository.`)
  }
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: limits.totalBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw cause
    throw new ArchiveFailure(`unpacks to more than ${limits.totalBytes >> 20} MiB.`)
  }
}

/**
 * The YAML and JSON files of an archive. Nothing is written to disk, so a path in the archive is only a
 * name; links are not followed.
 * @param folder where they must be; empty for anywhere
 */
async function unpack(
  archive: Buffer,
  shown: string,
  folder: string,
  limits: SourceLimits,
): Promise<SpecFile[]> {
  const files: SpecFile[] = []
  const entries = extract()
  entries.end(archive)
  for await (const entry of entries) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    if (isWanted(entry.header, folder, limits))
      files.push({ file: `${shown}!${entry.header.name}`, text: Buffer.concat(chunks).toString() })
  }
  return files.toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

/** Regular files that may be specs. */
function isWanted(header: EntryHeader, folder: string, limits: SourceLimits): boolean {
  const { name, type, size } = header
  const steps = name.split('/')
  const hidden = steps.some((step) => step.startsWith('.') || step === 'node_modules')
  // Repository archives have everything in one folder of their own.
  const start = folder === '' || folder.endsWith('/') ? folder : `${folder}/`
  const inFolder = name.startsWith(start) || name.slice(name.indexOf('/') + 1).startsWith(start)
  return type === 'file' && inFolder && !hidden && isSpecName(name) && size <= limits.fileBytes
}

function explain(cause: unknown, limits: SourceLimits): string {
  const error = cause as Error & { code?: string }
  if (error instanceof ArchiveFailure) return error.message
  if (error.name === 'TimeoutError') return `was not there within ${limits.downloadMs / 1000} s.`
  if (error.code?.startsWith('Z_') || /tar header|unexpected end/i.test(error.message))
    return `is broken or cut off: ${error.message}.`
  // Only the code or undici's own words: a message may quote the whole URL.
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string }
  const isRedirect = /redirect|scheme/i.test(message ?? '')
  return `cannot be downloaded (${code ?? (isRedirect ? message : 'no connection')}).`
}
