// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page of the admin server. */
export interface Page {
  readonly status: 200 | 503
  readonly contentType: string
  readonly body: string
}

export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>

/** Serves metrics and probes. */
export interface AdminServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Listens on `host:port`.
 * @param onFailure receives the path and the error of a page that failed; the client gets a 500
 * @throws Error that names the address, the reason and the remedy
 */
export async function openAdminServer(
  address: string,
  pages: Pages,
  onFailure: (path: string, error: unknown) => void,
): Promise<AdminServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (page === undefined || !isRead) {
      response.writeHead(page === undefined ? 404 : 405, { 'content-type': 'text/plain' })
      response.end(`There are ${Object.keys(pages).join(', ')}.\n`)
      return
    }
    const answered = (async () => await page())()
    answered.then(
      ({ status, contentType, body }) =>
        // Node.js omits the body for HEAD.
        response.writeHead(status, { 'content-type': contentType }).end(body),
      (error: unknown) => {
        onFailure(path, error)
        response.writeHead(500).end()
      },
    )
  })
  // Only a scraper and probes connect, so close idle connections and limit their number.
  server.requestTimeout = server.timeout = 10_000
  server.maxConnections = 256
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
  try {
    server.listen(Number(port), host.replaceAll(/[[\]]/g, '') || '0.0.0.0')
    await once(server, 'listening')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another process uses this port' : message
    const remedy = 'Choose another with --listen-address, or off'
    throw new Error(`cannot listen on ${address}: ${why}. ${remedy}`, { cause })
  }
  // Later errors concern individual connections that could not be accepted.
  server.on('error', (error) => process.emitWarning(error))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Creates a page of plain text. */
export function textPage(status: Page['status'], body: string): Page {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n` }
}
