// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { send } from './http-reply.ts'

const maxBodyBytes = 32 * 1024 * 1024
const keepAliveTimeoutMs = 120_000

export interface NodeServerOptions {
  readonly host: string
  /** 0: any free port. It stays the same over `stop` and `start`. */
  readonly port: number
  readonly tls: https.ServerOptions | null
  /** Takes connections that become WebSockets; without it none do. */
  readonly upgrade?: (request: IncomingMessage, wire: Duplex, head: Buffer) => void
}

/** The port of a simulated node, which may close and open again. */
export interface NodeServer {
  readonly port: number
  readonly url: string
  /** Opens the port again after `stop`. Harmless when it is open. */
  start(): Promise<void>
  /** Closes the port and every connection: the node is down, connections are refused. */
  stop(): Promise<void>
}

/** Opens a port on which `serve` answers; what it throws is told as HTTP 500. */
export async function openNodeServer(
  { host, port: wantedPort, tls, upgrade }: NodeServerOptions,
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<NodeServer> {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) send(response, 500, 'text/plain', String(error))
      else response.destroy()
    })
  }
  const open = (port: number) =>
    new Promise<http.Server>((resolve, reject) => {
      const settings = { keepAliveTimeout: keepAliveTimeoutMs }
      const server = tls
        ? https.createServer({ ...settings, ...tls }, listener)
        : http.createServer(settings, listener)
      if (upgrade) server.on('upgrade', upgrade)
      server.once('error', reject)
      server.listen(port, host, () => resolve(server))
    })
  let server: http.Server | null = await open(wantedPort)
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls ? 'https' : 'http'}://${host}:${port}`,
    async start() {
      server ??= await open(port)
    },
    async stop() {
      const closing = server
      server = null
      if (closing === null) return
      await new Promise((done) => {
        closing.close(done)
        closing.closeAllConnections()
      })
    },
  }
}

/** The body of a request; null when it is too large. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= maxBodyBytes) chunks.push(chunk)
  }
  return bytes <= maxBodyBytes ? Buffer.concat(chunks) : null
}
