// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../config/types.ts'
import type { Health, HealthAnswer } from './health.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Serves metrics and health to the operator's tools, apart from the clients' listeners. */
export interface AdminServer {
  /** Binds. Resolves with the real port. @throws Error naming the address, the cause kept */
  start(): Promise<Address>
  /** Ends at once: scrapes in flight are cut. Harmless before a start and when repeated. */
  close(): Promise<void>
}

export interface AdminServerOptions {
  readonly address: Address
  readonly metrics: Pick<Metrics, 'scrape' | 'contentType'>
  readonly health: Health
  readonly logger: Logger
}

interface Page {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const plainText = 'text/plain; charset=utf-8'

/** The server is made, and its engine loaded, only on `start()`. */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { address } = options
  let server: FastifyInstance | null = null
  return {
    async start() {
      server = await makeServer(options)
      try {
        await server.listen({ host: address.host, port: address.port })
      } catch (cause) {
        await server.close()
        const reason = (cause as NodeJS.ErrnoException).code ?? String(cause)
        const at = `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`
        throw new Error(`metrics-listen-address ${at} cannot be bound: ${reason}`, { cause })
      }
      const [bound] = server.addresses()
      return { host: address.host, port: typeof bound === 'object' ? bound.port : address.port }
    },
    async close() {
      await server?.close()
    },
  }
}

function pagesOf({ metrics, health }: AdminServerOptions): Record<string, () => Promise<Page>> {
  const answered = ({ status, body }: HealthAnswer) =>
    Promise.resolve({ status, contentType: plainText, body })
  return {
    '/metrics': async () => {
      const body = await metrics.scrape()
      return { status: 200, contentType: metrics.contentType, body }
    },
    '/metrics/overall-health': () => answered(health.overall()),
    '/livez': () => answered({ status: 200, body: 'live\n' }),
    '/readyz': () => answered(health.readiness()),
  }
}

async function makeServer(options: AdminServerOptions): Promise<FastifyInstance> {
  const { default: fastify } = await import('fastify')
  const pages = pagesOf(options)
  const answerError = (error: FastifyError, _request: FastifyRequest, reply: FastifyReply) => {
    const isOurs = (error.statusCode ?? 500) >= 500
    if (isOurs) options.logger.error('admin request failed', { error })
    void reply
      .code(error.statusCode ?? 500)
      .type(plainText)
      .send(isOurs ? 'internal error\n' : 'bad request\n')
  }
  const server = fastify({
    // Health has to answer until the very end; see the two phases of a stop.
    return503OnClosing: false,
    forceCloseConnections: true,
    bodyLimit: 1_024,
    requestTimeout: 10_000,
    connectionTimeout: 30_000,
    keepAliveTimeout: 75_000,
    frameworkErrors: answerError,
    routerOptions: { ignoreTrailingSlash: true },
  })
  for (const [path, page] of Object.entries(pages)) {
    server.get(path, async (_request, reply) => {
      const { status, contentType, body } = await page()
      return reply.code(status).type(contentType).header('cache-control', 'no-store').send(body)
    })
    server.route({
      method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url: path,
      // Before the body is looked at: whatever it holds, the answer is the same.
      onRequest: async (_request, reply) =>
        reply.code(405).header('allow', 'GET, HEAD').type(plainText).send('only GET is served\n'),
      handler: () => {},
    })
  }
  server.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .type(plainText)
      .send(`not found; there is ${Object.keys(pages).join(', ')}\n`),
  )
  server.setErrorHandler(answerError)
  return server
}
