// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header as EntryHeader } from 'tar-stream'
import { type Problem, whyUnreadable } from '../config/problem.ts'
import { fileProblem } from './document.ts'

/** One file of a source, as text. */
export interface SpecFile {
  /** Name for messages. */
  readonly file: string
  readonly text: string
}

export interface SourceFiles {
  readonly files: readonly SpecFile[]
  readonly problems: readonly Problem[]
  /** `file`: named by the user, so it must be a spec; `archive`: may contain unrelated files. */
  readonly kind: 'file' | 'directory' | 'archive'
}

/** Limits of a source; a catalog of a hundred chains takes about 3 MB. */
export const sourceLimits = {
  fileBytes: 8 * 2 ** 20,
  totalBytes: 64 * 2 ** 20,
  downloadMs: 30_000,
}
type SourceLimits = typeof sourceLimits

/** Whether a path may be of a spec. Hidden folders and packages contain none. */
function maySpec(path: string): boolean {
  return /\.(ya?ml|json)$/i.test(path) && !/(^|[/\\])(\.|node_modules[/\\])/.test(path)
}

/** Reads a file, a directory tree, or an archive at an http(s) URL. */
export function readSource(source: string): Promise<SourceFiles> {
  return /^https?:\/\//i.test(source) ? readArchive(source) : readLocal(source)
}

async function readLocal(source: string): Promise<SourceFiles> {
  const found = await stat(source).catch(() => null)
  const kind = found?.isDirectory() ? 'directory' : 'file'
  const problems: Problem[] = []
  try {
    const below = kind === 'file' ? [] : await readdir(source, { recursive: true })
    const names = below.filter(maySpec).map((name) => join(source, name))
    const paths = kind === 'file' ? [source] : names.toSorted()
    const files = await Promise.all(paths.map((path) => readSpecFile(path, problems)))
    return { kind, files: files.filter((file) => file !== null), problems }
  } catch (cause) {
    return { kind, files: [], problems: [unreadable(source, cause)] }
  }
}

async function readSpecFile(path: string, problems: Problem[]): Promise<SpecFile | null> {
  try {
    const found = await stat(path)
    // A mounted ConfigMap also links its directories.
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
  if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
    return fileProblem(path, 'does not exist.', 'Give a file, a directory, or an http(s) URL.')
  return fileProblem(path, `cannot be read: ${whyUnreadable(cause)}.`)
}

const archiveHint =
  'Give the URL of a `.tar.gz` archive of a specs repository, such as `https://github.com/<owner>/<repository>/archive/refs/heads/main.tar.gz`.'

/**
 * Downloads a `.tar.gz` archive and returns its YAML and JSON files. If the URL has a fragment,
 * only the files in that folder.
 */
export async function readArchive(
  source: string,
  limits: SourceLimits = sourceLimits,
): Promise<SourceFiles> {
  const url = URL.parse(source)
  // A query may contain a secret.
  const shown = url === null ? 'the spec URL' : `${url.origin}${url.pathname}`
  const refuse = (message: string): SourceFiles => {
    return { kind: 'archive', files: [], problems: [fileProblem(shown, message, archiveHint)] }
  }
  if (url === null) return refuse('is no URL.')
  try {
    const signal = AbortSignal.timeout(limits.downloadMs)
    // By default, the runtime treats the archive's compression as that of the transfer.
    const response = await fetch(url, { headers: { 'accept-encoding': 'identity' }, signal })
    if (url.protocol === 'https:' && response.url.startsWith('http:'))
      return refuse('redirects from https to http, which is refused.')
    if (response.status !== 200) return refuse(`answered with HTTP ${response.status}.`)
    const archive = await unzip(response, limits.totalBytes)
    const files = await unpack(archive, shown, decodeURIComponent(url.hash.slice(1)))
    if (files.length === 0) return refuse('holds no YAML or JSON file there.')
    return { kind: 'archive', files, problems: [] }
  } catch (cause) {
    return refuse(explain(cause as Error, limits))
  }
}

/** @throws RangeError if the content exceeds the limit */
async function unzip({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  await pipeline(body ?? [], createGunzip(), async (unzipped: AsyncIterable<Buffer>) => {
    for await (const chunk of unzipped) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new RangeError(`unpacks to more than ${maxBytes >> 20} MiB.`)
      chunks.push(chunk)
    }
  })
  return Buffer.concat(chunks)
}

/**
 * The YAML and JSON files of an archive. Nothing is written to disk, so an archive path is only a
 * name. Links are not followed.
 * @param folder includes only files in this folder; empty: all
 */
async function unpack(archive: Buffer, shown: string, folder: string): Promise<SpecFile[]> {
  const files: SpecFile[] = []
  const entries = extract()
  entries.end(archive)
  for await (const entry of entries) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    if (isWanted(entry.header, folder))
      files.push({ file: `${shown}!${entry.header.name}`, text: Buffer.concat(chunks).toString() })
  }
  return files.toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

/** Whether an entry is a regular file that may be a spec. */
function isWanted({ name, type, size }: EntryHeader, folder: string): boolean {
  if (type !== 'file' || !maySpec(name) || size > sourceLimits.fileBytes) return false
  // Archives of repositories wrap everything in a top-level folder.
  const start = folder === '' || folder.endsWith('/') ? folder : `${folder}/`
  return name.startsWith(start) || name.slice(name.indexOf('/') + 1).startsWith(start)
}

function explain(error: Error & { code?: string }, { downloadMs }: SourceLimits): string {
  if (error.name === 'TimeoutError') return `was not there within ${downloadMs / 1000} s.`
  if (error instanceof RangeError) return error.message
  if (String(error.code).startsWith('Z_') || /tar header|unexpected end/i.test(error.message))
    return `is no \`.tar.gz\` archive, or is cut off: ${error.message}.`
  // Shows only the code or undici's own text, because a message may quote the full URL.
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string }
  const isRedirect = /redirect|scheme/i.test(message ?? '')
  return `cannot be downloaded (${code ?? (isRedirect ? message : 'no connection')}).`
}
