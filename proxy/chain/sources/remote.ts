// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileProblem } from '../spec-error.ts'
import type { SpecProblem } from '../spec-error.ts'
import { sourceLimits } from './spec-file.ts'
import type { SourceFiles } from './spec-file.ts'
import { ArchiveFailure, unpack } from './unpack.ts'
import type { ArchiveLimits } from './unpack.ts'

/**
 * Downloads a `.tar.gz` archive and gives the YAML and JSON files in it, or in the folder of it
 * that the URL names behind a `#`.
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
    const packed = await bodyOf(response, limits)
    const files = await unpack(packed, shown, folderOf(source), limits)
    if (files.length === 0)
      throw new ArchiveFailure(
        'holds no YAML or JSON file there. Name an archive of a specs repository.',
      )
    return { kind: 'archive', files, problems: [] }
  } catch (cause) {
    return { kind: 'archive', files: [], problems: [explain(shown, cause, limits)] }
  }
}

/** `specs/` for `https://example.org/x.tar.gz#specs`. */
function folderOf(source: string): string {
  const folder = decodeURIComponent(URL.parse(source)?.hash.slice(1) ?? '')
  return folder === '' || folder.endsWith('/') ? folder : `${folder}/`
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
    const { url, headers } = request(at)
    const response = await fetch(url, { headers, signal, redirect: 'manual' })
    if (response.status < 300 || response.status >= 400) return checked(response)
    await response.body?.cancel()
    const next: URL | null = URL.parse(response.headers.get('location') ?? '', at)
    if (next !== null && at.protocol === 'https:' && next.protocol === 'http:')
      throw new ArchiveFailure('redirects from https to http, which is refused.')
    at = next
  }
  throw new ArchiveFailure(`redirects more than ${limits.redirects} times.`)
}

/** User and password travel as a header; `fetch` refuses them in a URL. */
function request(at: URL): { readonly url: URL; readonly headers: Record<string, string> } {
  // Otherwise the runtime would take the archive's own compression for the transfer's.
  const identity = { 'accept-encoding': 'identity' }
  if (at.username === '' && at.password === '') return { url: at, headers: identity }
  const url = new URL(at)
  url.username = ''
  url.password = ''
  const user = `${decodeURIComponent(at.username)}:${decodeURIComponent(at.password)}`
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`
  return { url, headers: { ...identity, authorization } }
}

function checked(response: Response): Response {
  if (response.status === 404)
    throw new ArchiveFailure(
      'does not exist (HTTP 404). Give the URL of a `.tar.gz` archive, such as `https://github.com/<owner>/<repository>/archive/refs/heads/main.tar.gz`.',
    )
  if (response.status !== 200) throw new ArchiveFailure(`answered with HTTP ${response.status}.`)
  return response
}

async function bodyOf(response: Response, limits: ArchiveLimits): Promise<Buffer> {
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

function explain(shown: string, cause: unknown, limits: ArchiveLimits): SpecProblem {
  const error = cause as Error & { code?: string }
  if (error instanceof ArchiveFailure) return fileProblem(shown, error.message)
  if (error.name === 'TimeoutError')
    return fileProblem(shown, `was not there within ${limits.downloadMs / 1000} s.`)
  if (error.name === 'AbortError') return fileProblem(shown, 'was given up.')
  if (error.code?.startsWith('Z_') || /tar header|unexpected end/i.test(error.message))
    return fileProblem(shown, `is broken or cut off: ${error.message}.`)
  // Only the code: a message may quote the whole URL.
  const { code = 'no connection' } = (error.cause ?? error) as { code?: string }
  return fileProblem(shown, `cannot be downloaded (${code}).`)
}
