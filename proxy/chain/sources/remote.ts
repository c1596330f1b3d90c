// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Header as EntryHeader } from 'tar-stream'
import { fileProblem } from '../document.ts'
import { isSpecName, sourceLimits } from './local.ts'
import type { SourceFiles, SourceLimits, SpecFile } from './local.ts'

const hint =
  'Give the URL of a `.tar.gz` archive of a specs repository, such as `https://github.com/<owner>/<repository>/archive/refs/heads/main.tar.gz`.'

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
  const refuse = (message: string): SourceFiles => {
    return { kind: 'archive', files: [], problems: [fileProblem(shown, message, hint)] }
  }
  if (url === null) return refuse('is no URL.')
  try {
    const signal = AbortSignal.timeout(limits.downloadMs)
    // Otherwise the runtime would take the archive's own compression for the transfer's.
    const response = await fetch(url, { headers: { 'accept-encoding': 'identity' }, signal })
    if (url.protocol === 'https:' && response.url.startsWith('http:'))
      return refuse('redirects from https to http, which is refused.')
    if (response.status !== 200) return refuse(`answered with HTTP ${response.status}.`)
    const archive = await unzip(response, limits.totalBytes)
    const files = await unpack(archive, shown, decodeURIComponent(url.hash.slice(1)), limits)
    if (files.length === 0) return refuse('holds no YAML or JSON file there.')
    return { kind: 'archive', files, problems: [] }
  } catch (cause) {
    return refuse(explain(cause as Error, limits))
  }
}

/** @throws RangeError when there is more in it than the limit */
async function unzip({ body }: Response, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  await pipeline(body ?? [], createGunzip(), async (unzipped: AsyncIterable<Buffer>) => {
    for await (const chunk of unzipped) {
      bytes += chunk.length
      if (bytes > mostBytes) throw new RangeError(`unpacks to more than ${mostBytes >> 20} MiB.`)
      chunks.push(chunk)
    }
  })
  return Buffer.concat(chunks)
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

function explain(error: Error & { code?: string }, { downloadMs }: SourceLimits): string {
  if (error.name === 'TimeoutError') return `was not there within ${downloadMs / 1000} s.`
  if (error instanceof RangeError) return error.message
  if (String(error.code).startsWith('Z_') || /tar header|unexpected end/i.test(error.message))
    return `is no \`.tar.gz\` archive, or is cut off: ${error.message}.`
  // Only the code or undici's own words: a message may quote the whole URL.
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string }
  const isRedirect = /redirect|scheme/i.test(message ?? '')
  return `cannot be downloaded (${code ?? (isRedirect ? message : 'no connection')}).`
}
