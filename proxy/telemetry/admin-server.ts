// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Readable } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { adminLimits } from '../bytes/limits.ts'
import { formatAddress } from '../config/fields/address.ts'
import { whyOccupied } from '../config/problem.ts'
import type { Address } from '../config/types.ts'
import { acceptsGzip, gzipBytes } from '../listener/http/compression.ts'
import { readHead } from '../listener/request-head.ts'
import { mayRead, openPages } from './admin-hosts.ts'
import type { ExplainAnswer } from './explain/explain-page.ts'
import type { HealthAnswer } from './health.ts'
import type { Logger } from './log.ts'
import type { MetricsPage } from './metrics-page.ts'

export interface AdminServerOptions {
  readonly address: Address
  /** A unix socket to serve on instead. It also serves `/metrics.json`, for a supervisor. */
  readonly socket?: string | null
  /** Host names that browsers may use, in addition to names that no web page can have. */
  readonly names?: readonly string[]
  readonly metrics: {
    readonly page: (accept?: string) => Promise<MetricsPage>
    readonly json?: () => Promise<object>
  }
  /** Without `status`, that page is not served. */
  readonly health: {
    readonly readiness: (isVerbose: boolean) => HealthAnswer | Promise<HealthAnswer>
    readonly overall: () => HealthAnswer | Promise<HealthAnswer>
    readonly status?: () => string | Promise<string>
  }
  /** Answers `/explain`. Without it, calls are not explained. @param guid null for a list */
  readonly explain?: (
    guid: string | null,
    query: Readonly<Record<string, unknown>>,
  ) => ExplainAnswer | Promise<ExplainAnswer>
  /** Without it, `/facts` is not served. */
  readonly facts?: () => Promise<object>
  /** Null disables the page for browsers. */
  readonly page?: {
    readonly html: string
    readonly headers: Readonly<Record<string, string>>
    readonly events: () => AsyncIterable<string>
  } | null
  readonly logger: Logger
  readonly limits?: typeof adminLimits
}

const plainText = 'text/plain; charset=utf-8'

/**
 * Serves metrics and health to operations tools, separately from the client listeners. The server
 * and its engine load only on `start()`.
 */
export function createAdminServer(options: AdminServerOptions) {
  const { host, port } = options.address
  let server: FastifyInstance | null = null
  return {
    /** Binds. Resolves with the actual port. @throws Error with the address and the cause */
    async start(): Promise<Address> {
      server = await makeServer(options)
      try {
        await server.listen(options.socket ? { path: options.socket } : { host, port })
      } catch (cause) {
        await server.close()
        const { code } = cause as NodeJS.ErrnoException
        const reason = (code ?? String(cause)) + whyOccupied(code, 'the port')
        const at = formatAddress(options.address)
        throw new Error(`metrics-listen-address ${at} cannot be bound: ${reason}`, { cause })
      }
      const [bound] = server.addresses()
      return { host, port: typeof bound === 'object' ? bound.port : port }
    },
    /** Stops immediately and cuts scrapes in flight. Idempotent, and harmless before a start. */
    async close() {
      await server?.close()
    },
  }
}

/** Starts the server. If its address is only the default, and in use, the router serves without. */
export async function startAdmin(
  admin: Pick<ReturnType<typeof createAdminServer>, 'start'> | null,
  address: (Address & { readonly isOptional?: boolean }) | null,
  logger: Logger,
): Promise<void> {
  await admin?.start().catch((error: unknown) => {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
    if (!address?.isOptional || code !== 'EADDRINUSE') throw error
    const at = formatAddress(address)
    logger.warn(`${at} is in use, so this router serves no metrics, no health and no page`, {
      hint: 'To serve them, set metrics-listen-address to another port; off ends this warning.',
    })
  })
}

const hasBody = (headers: FastifyRequest['headers']) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

const unknownHost =
  'this page is served by IP address, by localhost, by names within a network, and by those that admin-hosts lists\n'

async function makeServer({
  address,
  socket = null,
  names = [],
  metrics,
  health,
  explain,
  facts,
  page: live,
  logger,
  limits = adminLimits,
}: AdminServerOptions): Promise<FastifyInstance> {
  const { default: fastify } = await import('fastify')
  const answerError = (error: FastifyError, _request: FastifyRequest, reply: FastifyReply) => {
    const { statusCode = 500 } = error
    if (statusCode >= 500) logger.error('admin request failed', { error })
    const text = statusCode >= 500 ? 'internal error\n' : 'bad request\n'
    void reply.code(statusCode).type(plainText).send(text)
  }
  const server = fastify({
    // Health checks are answered until the end of the shutdown.
    return503OnClosing: false,
    forceCloseConnections: true,
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleMs,
    keepAliveTimeout: limits.keepAliveMs,
    http: {
      maxHeaderSize: limits.maxHeaderBytes,
      connectionsCheckingInterval: limits.checkMs,
    },
    frameworkErrors: answerError,
    routerOptions: { ignoreTrailingSlash: true },
  })
  server.server.maxConnections = limits.maxConnections
  // Frees connections for the next client.
  server.server.on('drop', () => server.server.closeIdleConnections())
  const answered = (reply: FastifyReply, { status, body }: HealthAnswer) =>
    reply.code(status).type(plainText).send(body)
  const explained = async (reply: FastifyReply, request: FastifyRequest) => {
    if (!explain) return
    const { guid = null } = request.params as { guid?: string }
    const { status, isText, body } = await explain(guid, request.query as Record<string, unknown>)
    return reply
      .code(status)
      .type(isText ? plainText : 'application/json')
      .send(body)
  }
  let streams = 0
  const pages: Record<string, (reply: FastifyReply, request: FastifyRequest) => unknown> = {
    '/metrics': async (reply, { headers }) => {
      const { type, text } = await metrics.page(headers.accept)
      reply.type(type).header('vary', 'accept, accept-encoding')
      if (!acceptsGzip(headers['accept-encoding'] ?? null)) return reply.send(text)
      return reply.header('content-encoding', 'gzip').send(await gzipBytes(Buffer.from(text)))
    },
    ...(socket && { '/metrics.json': async (reply) => reply.send(await metrics.json?.()) }),
    '/metrics/overall-health': async (reply) => answered(reply, await health.overall()),
    '/livez': (reply) => answered(reply, { status: 200, body: 'live\n' }),
    '/readyz': async (reply, { query }) =>
      answered(reply, await health.readiness(Object.hasOwn(query as object, 'verbose'))),
    ...(health.status && {
      '/status': async (reply) => reply.type('application/json').send(await health.status?.()),
    }),
    ...(explain && { '/explain': explained, '/explain/:guid': explained }),
    ...(facts && { '/facts': async (reply) => reply.send(await facts()) }),
    ...(live && {
      '/': (reply) => reply.headers(live.headers).send(live.html),
      '/events': (reply, { method }) => {
        if (streams >= limits.streams)
          return reply
            .code(503)
            .type(plainText)
            .send(`${limits.streams} pages are already open; close one of them\n`)
        reply.type('text/event-stream')
        if (method === 'HEAD') return reply.send()
        streams += 1
        reply.raw.on('close', () => (streams -= 1))
        return reply.send(Readable.from(live.events()))
      },
    }),
  }
  server.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    // The server does not wait for a request body.
    if (hasBody(request.headers)) reply.header('connection', 'close')
    if (readHead(request.raw).fault) await reply.code(400).type(plainText).send('bad request\n')
    else if (
      !openPages.has(request.routeOptions.url ?? '') &&
      !mayRead(request.headers, [address.host, ...names])
    )
      await reply.code(403).type(plainText).send(unknownHost)
    // Runs before the body is read, because the answer does not depend on it.
    else if (request.method !== 'GET' && request.method !== 'HEAD' && !request.is404)
      await reply
        .code(405)
        .header('allow', 'GET, HEAD')
        .type(plainText)
        .send('only GET is served\n')
  })
  for (const [url, page] of Object.entries(pages))
    server.all(url, (request, reply) => page(reply, request))
  server.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .type(plainText)
      .send(`not found; there is ${Object.keys(pages).join(', ')}\n`),
  )
  server.setErrorHandler(answerError)
  return server
}
