// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterEach, describe, expect, it, test } from 'vitest'
import { freePort } from '../../e2e/processes/free-ports.ts'
import { loadCatalog } from './load-catalog.ts'
import { ownIds } from './testing/own-ids.ts'
import { readArchive, sourceLimits } from './sources.ts'

let server: Server | null = null

afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((done) => (server === null ? done(null) : server.close(done)))
  server = null
})

async function serve(listener: RequestListener): Promise<string> {
  const made = createServer(listener)
  server = made
  // On a busy machine, seconds pass between two requests.
  made.keepAliveTimeout = 60_000
  await new Promise<void>((done) => made.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/specs.tar.gz`
}

type Entry = readonly [name: string, text: string, type?: 'file' | 'symlink' | 'link' | 'directory']

async function tar(...entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack()
  for (const [name, text, type = 'file'] of entries)
    if (type === 'file') archive.entry({ name, type }, text)
    else archive.entry({ name, type, linkname: text })
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const archiveOf = async (...entries: readonly Entry[]) => gzipSync(await tar(...entries))

const spec = (id: string) => `id: ${id}
name: A chain
family: other
block-time: 1s
allowed-lag: 1
finality: latest
interfaces: { jsonrpc: { methods: { m: { block: none } } } }
`

describe('an archive', () => {
  it('yields all its specs and nothing else', async () => {
    const body = await archiveOf(
      ['repo-main/specs/a.yml', spec('A')],
      ['repo-main/specs/deep/b.yaml', spec('B')],
      ['repo-main/package.json', '{"name":"x"}'],
      ['repo-main/chart/templates/x.yaml', '{{ if }}: {{ broken'],
      ['repo-main/.github/workflows/ci.yml', 'jobs: {}'],
      ['repo-main/README.md', 'hello'],
    )
    const url = await serve((_request, response) => response.end(body))
    expect(ownIds(await loadCatalog([url]))).toEqual(['A', 'B'])
  })

  it('is read only in the folder that the URL names', async () => {
    const body = await archiveOf(
      ['repo-main/specs/main/a.yml', spec('A')],
      ['repo-main/specs/test/a.yml', spec('A')],
      ['repo-main/plans.json', '{"proposal":{"plans":[]}}'],
    )
    const url = await serve((_request, response) => response.end(body))
    expect(ownIds(await loadCatalog([`${url}#specs/main`]))).toEqual(['A'])
    await expect(loadCatalog([url])).rejects.toThrow('chain `A` is also in')
    await expect(loadCatalog([`${url}#specs/none`])).rejects.toThrow(
      'holds no YAML or JSON file there',
    )
  })

  it('is followed through redirects', async () => {
    const body = await archiveOf(['a.yml', spec('A')])
    const url = await serve((request, response) => {
      if (request.url === '/real') response.end(body)
      else response.writeHead(302, { location: '/real' }).end()
    })
    expect(ownIds(await loadCatalog([url]))).toEqual(['A'])
  })

  it.each<[string, Entry]>([
    ['a symbolic link', ['evil.yml', '/etc/passwd', 'symlink']],
    ['a hard link', ['evil.yml', 'a.yml', 'link']],
  ])('leaves out %s', async (_case, entry) => {
    const body = await archiveOf(entry, ['a.yml', spec('A')])
    const url = await serve((_request, response) => response.end(body))
    expect(ownIds(await loadCatalog([url]))).toEqual(['A'])
  })

  it('is reported with its invalid file', async () => {
    const body = await archiveOf(['s/a.yml', spec('A').replace('other', 'elvish')])
    const url = await serve((_request, response) => response.end(body))
    await expect(loadCatalog([url])).rejects.toThrow(
      'specs.tar.gz!s/a.yml:3: family: must be one of evm',
    )
  })

  it('is reported with its unreadable spec', async () => {
    const body = await archiveOf(['a.yml', 'id: A\nx: ['], ['b.yml', spec('B')])
    const url = await serve((_request, response) => response.end(body))
    await expect(loadCatalog([url])).rejects.toThrow('!a.yml:')
  })
})

describe('an unavailable archive', () => {
  const noArchive = 'is no `.tar.gz` archive, or is cut off'
  const answer =
    (status: number, body: string | Buffer = '', headers = {}): RequestListener =>
    (_request, response) =>
      response.writeHead(status, headers).end(body)

  test.each<[string, RequestListener, string]>([
    ['404', answer(404), 'answered with HTTP 404. Give the URL of a `.tar.gz` archive'],
    ['500', answer(500), 'answered with HTTP 500.'],
    ['a web page', answer(200, '<!doctype html><p>hi'), `${noArchive}: incorrect header check.`],
    ['plain text', answer(200, 'hello'), `${noArchive}: incorrect header check.`],
    ['nothing', answer(200), `${noArchive}: unexpected end of file.`],
    ['one byte', answer(200, Buffer.from([0x1f])), `${noArchive}: unexpected end of file.`],
    ['gzip of something else', answer(200, gzipSync('x'.repeat(2_000))), noArchive],
    [
      'a redirect to itself',
      answer(302, '', { location: '/specs.tar.gz' }),
      'cannot be downloaded (redirect count exceeded).',
    ],
    [
      'a redirect to a file',
      answer(302, '', { location: 'file:///etc/passwd' }),
      'cannot be downloaded (URL scheme must be a HTTP(S) scheme).',
    ],
    [
      'a redirect to nowhere',
      answer(302, '', { location: 'http://[' }),
      'cannot be downloaded (ERR_INVALID_URL).',
    ],
  ])('%s', async (_case, listener, expected) => {
    const url = await serve(listener)
    await expect(loadCatalog([url])).rejects.toThrow(expected)
  })

  it('contains no spec', async () => {
    const body = await archiveOf(['package.json', '{}'])
    const url = await serve(answer(200, body))
    await expect(loadCatalog([url])).rejects.toThrow('there is no chain spec here.')
  })

  it('is truncated', async () => {
    const body = await archiveOf(['a.yml', spec('A') + '#'.repeat(5_000)])
    const url = await serve(answer(200, body.subarray(0, body.length - 40)))
    await expect(loadCatalog([url])).rejects.toThrow(noArchive)
  })

  it('ends with its connection', async () => {
    const body = await archiveOf(['a.yml', spec('A')])
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': String(body.length) })
      response.write(body.subarray(0, 20), () => response.destroy())
    })
    await expect(loadCatalog([url])).rejects.toThrow(/cannot be downloaded|is cut off/)
  })

  it('unpacks beyond its limit', async () => {
    const bomb = gzipSync(await tar(['bomb.bin', 'x'.repeat(3 * 2 ** 20)], ['a.yml', spec('A')]))
    const url = await serve(answer(200, bomb))
    const limits = { ...sourceLimits, totalBytes: 2 ** 20 }
    const { problems } = await readArchive(url, limits)
    expect(problems).toMatchObject([
      { message: expect.stringContaining('unpacks to more than 1 MiB.') },
    ])
  })

  it('never ends', async () => {
    const url = await serve((_request, response) => {
      const bomb = gzipSync(Buffer.alloc(8 * 2 ** 20))
      response.write(bomb.subarray(0, bomb.length - 8))
      const more = setInterval(() => response.write('more'), 5)
      response.on('close', () => clearInterval(more))
    })
    const { problems } = await readArchive(url, { ...sourceLimits, totalBytes: 2 ** 20 })
    expect(problems).toMatchObject([
      { message: expect.stringContaining('unpacks to more than 1 MiB.') },
    ])
  })

  it('does not arrive in time', async () => {
    const url = await serve(() => undefined)
    const limits = { ...sourceLimits, downloadMs: 20 }
    const { problems } = await readArchive(url, limits)
    expect(problems).toMatchObject([
      { message: expect.stringContaining('was not there within 0.02 s.') },
    ])
  })

  it('has no server, and its key is not shown', async () => {
    const url = `http://127.0.0.1:${await freePort()}/specs.tar.gz?token=hunter2`
    const failure = await loadCatalog([url]).catch((error: unknown) => String(error))
    expect(failure).toContain('cannot be downloaded (ECONNREFUSED)')
    expect(failure).not.toContain('hunter2')
  })
})
