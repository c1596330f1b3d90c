// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Header as EntryHeader } from 'tar-stream'
import { ArchiveFailure, tooLong } from './archive-failure.ts'
import type { ArchiveLimits } from './archive-failure.ts'
import { isSpecName } from './spec-file.ts'
import type { SpecFile } from './spec-file.ts'

/**
 * The YAML and JSON files of a `.tar.gz` as it comes in. Nothing is written to disk, so a path in
 * the archive is only a name; links are not followed. `folder` is where they must be: empty for
 * anywhere, else it ends in `/`.
 * @throws ArchiveFailure, or the error of a broken stream
 */
export async function unpack(
  response: Response,
  shown: string,
  folder: string,
  signal: AbortSignal,
  limits: ArchiveLimits,
): Promise<SpecFile[]> {
  if (response.body === null) throw new ArchiveFailure('answered with nothing.')
  const files: SpecFile[] = []
  let entries = 0
  let kept = 0
  const archive = extract()
  archive.on('entry', (header, stream, next) => {
    // First of all: destroying the archive ends the entry with the same error.
    stream.on('error', next)
    const chunks: Buffer[] = []
    const wanted = isWanted(header, folder, limits)
    kept += wanted ? (header.size ?? 0) : 0
    if (++entries > limits.entries || files.length >= limits.files || kept > limits.totalBytes) {
      archive.destroy(new ArchiveFailure('holds more files than a specs repository would.'))
      return
    }
    stream.on('data', (chunk: unknown) => {
      if (wanted) chunks.push(chunk as Buffer)
    })
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
    Readable.fromWeb(response.body),
    atMost(limits.archiveBytes, tooLong(limits.archiveBytes)),
    gzipOnly(),
    createGunzip(),
    atMost(limits.totalBytes, `unpacks to more than ${limits.totalBytes >> 20} MiB.`),
    archive,
    { signal },
  )
  return files.toSorted((a, b) => (a.file < b.file ? -1 : 1))
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
