// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isDeepStrictEqual } from 'node:util'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { Clock } from './clock.ts'
import type { Cluster, Credentials, TlsMaterial } from './cluster.ts'
import { ConnectionError, KubeError } from './errors.ts'

/** Maximum age of credentials before they are reread from their files or plugins. */
const credentialsMs = 60_000
const connectTimeoutMs = 10_000
const keepAliveMs = 30_000

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, below the path of the cluster's URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface WireAnswer {
  readonly status: number
  /** A header that occurs only once; null if absent. */
  header(name: string): string | null
  /** The body in chunks. Callers must read it to its end or abort the request. */
  readonly body: AsyncIterable<Uint8Array>
}

export interface TransportOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  /** `rpc-operator/0.1.0`: appears in the audit log of the API server. */
  readonly userAgent: string
}

/** Connects to one API server with a pool of keep-alive connections, and refreshes credentials. */
export class Transport {
  readonly #options: TransportOptions
  readonly #origin: string
  readonly #basePath: string
  #tls: TlsMaterial | null = null
  #agent: Dispatcher | null = null
  #credentials: Promise<Credentials> | null = null
  #credentialsAtMs = 0

  constructor(options: TransportOptions) {
    const url = new URL(options.cluster.server)
    this.#options = options
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/$/, '')
  }

  /**
   * Sends one request. The caller's signal limits its time, and also ends the body.
   * @throws ConnectionError, or the signal's reason
   */
  async send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const answer = await this.#sendOnce(request, signal)
    if (answer.status !== 401) return answer
    // The token may have expired, so reread it once.
    for await (const _ of answer.body);
    this.#credentials = null
    return this.#sendOnce(request, signal)
  }

  /** Closes all connections and aborts the requests in flight. */
  async close(): Promise<void> {
    await this.#agent?.destroy()
  }

  async #sendOnce(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const { headers, tls } = await this.#freshCredentials()
    signal.throwIfAborted()
    try {
      const answer = await this.#agentFor(tls).request({
        origin: this.#origin,
        path: this.#basePath + request.path,
        method: request.method,
        headers: { 'user-agent': this.#options.userAgent, ...request.headers, ...headers },
        body: request.body,
        signal,
      })
      return {
        status: answer.statusCode,
        header: (name) => {
          const value = answer.headers[name]
          return typeof value === 'string' ? value : null
        },
        body: this.#read(answer.body, request, signal),
      }
    } catch (error) {
      throw this.#explain(error, request, signal)
    }
  }

  async *#read(
    body: AsyncIterable<Uint8Array>,
    request: WireRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body
    } catch (error) {
      throw this.#explain(error, request, signal)
    }
  }

  /** Wraps an error of the library, whose messages name addresses and codes but never headers. */
  #explain(error: unknown, { method, path }: WireRequest, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    if (error instanceof KubeError) return error
    const why = error instanceof Error ? error.message : String(error)
    return new ConnectionError(
      `${method} ${path.split('?')[0]}: the connection to ${this.#origin} failed: ${why}`,
      { cause: error },
    )
  }

  async #freshCredentials(): Promise<Credentials> {
    const nowMs = this.#options.clock.nowMs()
    if (this.#credentials === null || nowMs - this.#credentialsAtMs > credentialsMs) {
      this.#credentialsAtMs = nowMs
      this.#credentials = this.#options.cluster.credentials()
    }
    try {
      return await this.#credentials
    } catch (cause) {
      this.#credentials = null
      throw new ConnectionError(
        `the credentials for ${this.#origin} cannot be read: ${(cause as Error).message}`,
        { cause },
      )
    }
  }

  /** New certificates need a new pool. Requests in flight finish in the old one. */
  #agentFor(tls: TlsMaterial): Dispatcher {
    if (this.#agent !== null && isDeepStrictEqual(tls, this.#tls)) return this.#agent
    void this.#agent?.close()
    this.#tls = tls
    this.#agent = createAgent(this.#options.cluster, tls)
    return this.#agent
  }
}

function createAgent({ proxyUrl }: Cluster, tls: TlsMaterial): Dispatcher {
  const connect = {
    ...tls,
    timeout: connectTimeoutMs,
    // With HTTP/2, a write aborted while its body is sent can block the process: decision 0027.
    allowH2: false,
    // Common load balancers drop an idle connection after 60 s.
    keepAliveInitialDelay: 30_000,
  }
  const options = {
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // The caller's signal limits a request's time.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  return proxyUrl === undefined
    ? new Agent({ ...options, connect })
    : new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect })
}
