// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Header as EntryHeader } from 'tar-stream'
import { fileProblem } from '../spec-error.ts'
import type { SpecProblem } from '../spec-error.ts'
import { isSpecName, sourceLimits } from './spec-file.ts'
import type { SourceFiles, SpecFile } from './spec-file.ts'

/** A download that ended in a way that the user can do something about. */
class ArchiveFailure extends Error {
  override readonly name = 'ArchiveFailure'
}

export type ArchiveLimits = { readonly [Key in keyof typeof sourceLimits]: number }

/**
 * Downloads a `.tar.gz` archive and gives the YAML and JSON files in it. Nothing is written to
 * disk, so a path in the archive is only a name; links are not followed.
 */
export async function readArchive(
  source: string,
  signal: AbortSignal,
  limits: ArchiveLimits = sourceLimits,
): Promise<SourceFiles> {
  const shown = printable(source)
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(limits.downloadMs)])
    const response = await download(source, within, limits)
    const files = await unpack(response, shown, within, limits)
    if (files.length === 0)
      throw new ArchiveFailure('holds no YAML or JSON file. Name an archive of a specs repository.')
    return { kind: 'archive', files, problems: [] }
  } catch (cause) {
    return { kind: 'archive', files: [], problems: [explain(shown, cause, limits)] }
  }
}

/** The URL without what may be secret. */
function printable(source: string): string {
  const url = URL.parse(source)
  return url === null ? 'the spec URL' : `${url.origin}${url.pathname}`
}

async function download(
  source: string,
  signal: AbortSignal,
  limits: ArchiveLimits,
): Promise<Response> {
  let at = URL.parse(source)
  for (let redirects = 0; redirects <= limits.redirects; redirects++) {
    if (at === null || !/^https?:$/.test(at.protocol))
      throw new ArchiveFailure(
        redirects === 0 ? 'is no URL.' : 'redirects to something that is no http(s) URL.',
      )
    // The runtime follows up to 20 redirects and does not say to which protocol.
    const response = await fetch(at, { signal, redirect: 'manual' })
    if (response.status < 300 || response.status >= 400) return checked(response, limits)
    await response.body?.cancel()
    const next: URL | null = URL.parse(response.headers.get('location') ?? '', at)
    if (next !== null && at.protocol === 'https:' && next.protocol === 'http:')
      throw new ArchiveFailure('redirects from https to http, which is refused.')
    at = next
  }
  throw new ArchiveFailure(`redirects more than ${limits.redirects} times.`)
}

function checked(response: Response, limits: ArchiveLimits): Response {
  if (response.status === 404)
    throw new ArchiveFailure(
      'does not exist (HTTP 404). Give the URL of a `.tar.gz` archive, such as `https://github.com/<owner>/<repository>/archive/refs/heads/main.tar.gz`.',
    )
  if (response.status !== 200) throw new ArchiveFailure(`answered with HTTP ${response.status}.`)
  if (Number(response.headers.get('content-length') ?? 0) > limits.archiveBytes)
    throw new ArchiveFailure(tooLong(limits.archiveBytes))
  return response
}

async function unpack(
  response: Response,
  shown: string,
  signal: AbortSignal,
  limits: ArchiveLimits,
): Promise<SpecFile[]> {
  if (response.body === null) throw new ArchiveFailure('answered with nothing.')
  const files: SpecFile[] = []
  let entries = 0
  let kept = 0
  const archive = extract()
  archive.on('entry', (header, stream, next) => {
    const chunks: Buffer[] = []
    const wanted = isWanted(header, limits)
    kept += wanted ? (header.size ?? 0) : 0
    if (++entries > limits.entries || files.length >= limits.files || kept > limits.totalBytes) {
      archive.destroy(new ArchiveFailure('holds more files than a specs repository would.'))
      return
    }
    stream.on('data', (chunk: unknown) => {
      if (wanted) chunks.push(chunk as Buffer)
    })
    stream.on('error', next)
    stream.on('end', () => {
      if (wanted)
        files.push({
          file: `${shown}!${header.name}`,
          text: Buffer.concat(chunks).toString('utf8'),
        })
      next()
    })
  })
  await pipeline(
    Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
    atMost(limits.archiveBytes, tooLong(limits.archiveBytes)),
    gzipOnly(),
    createGunzip(),
    atMost(limits.totalBytes, `unpacks to more than ${limits.totalBytes >> 20} MiB.`),
    archive,
    { signal },
  )
  return files.sort((a, b) => (a.file < b.file ? -1 : 1))
}

/** Regular files that may be specs, with a name that stays inside the archive. */
function isWanted(header: EntryHeader, limits: ArchiveLimits): boolean {
  const { name, type, size = 0 } = header
  const steps = name.split('/')
  const stays = !name.startsWith('/') && !name.includes('\\') && !steps.includes('..')
  const hidden = steps.some((step) => step.startsWith('.') || step === 'node_modules')
  return type === 'file' && stays && !hidden && isSpecName(name) && size <= limits.fileBytes
}

function tooLong(bytes: number): string {
  return `is longer than ${bytes >> 20} MiB.`
}

function atMost(bytes: number, message: string): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      done(seen > bytes ? new ArchiveFailure(message) : null, chunk)
    },
  })
}

/** Tells a page of HTML from an archive before the decompressor stumbles over it. */
function gzipOnly(): Transform {
  let head: Buffer | null = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (head === null) return done(null, chunk)
      head = Buffer.concat([head, chunk])
      if (head.length < 2) return done()
      const [first, second] = head
      const whole = head
      head = null
      if (first !== 0x1f || second !== 0x8b) return done(new ArchiveFailure(notGzip(whole)))
      done(null, whole)
    },
    flush(done) {
      done(head === null ? null : new ArchiveFailure('answered with nothing.'))
    },
  })
}

function notGzip(head: Buffer): string {
  const kind = head.subarray(0, 64).toString('latin1').trimStart().startsWith('<')
    ? 'is a web page'
    : 'is no gzip archive'
  return `${kind}. Give the URL of a \`.tar.gz\` archive of the repository.`
}

function explain(shown: string, cause: unknown, limits: ArchiveLimits): SpecProblem {
  const error = cause as Error & { code?: string }
  if (error instanceof ArchiveFailure) return fileProblem(shown, error.message)
  if (error.name === 'TimeoutError')
    return fileProblem(shown, `was not there within ${limits.downloadMs / 1000} s.`)
  if (error.name === 'AbortError') return fileProblem(shown, 'was given up.')
  if (/^Z_|unexpected end|header|checksum/i.test(`${error.code ?? ''} ${error.message}`))
    return fileProblem(shown, `is broken or cut off: ${error.message}.`)
  const reason = (error.cause as Error | undefined)?.message ?? error.message
  return fileProblem(shown, `cannot be downloaded: ${reason}.`)
}
