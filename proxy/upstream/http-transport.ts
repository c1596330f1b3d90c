// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Pool, type Dispatcher } from 'undici'
import type { NodeUrlConfig } from '../config/types.ts'
import { decodeContent } from './content-encoding.ts'
import { readTls } from './tls.ts'
import { faultOf } from './http-fault.ts'
import { TransportError, type Transport } from './transport.ts'
import { header, type HeaderList, type Incoming } from './wire.ts'

/** How long an idle connection is kept: below what common load balancers close at (60 s). */
const keepAliveMs = 30_000
const connectTimeoutMs = 5_000
/** A reply longer than this is refused: no method of any chain needs more. */
const maxReplyBytes = 256 * 1024 * 1024

/**
 * HTTP/1.1 to one URL through a pool of kept-alive connections.
 * @throws Error naming the file, when a TLS file cannot be read
 */
export function createHttpTransport(config: NodeUrlConfig): Transport {
  const url = new URL(config.url.reveal())
  const pool = new Pool(url.origin, {
    connect: { ...readTls(config.tls), timeout: connectTimeoutMs },
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The attempt has its own time; a second clock here would only blur who gave up.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const basePath = url.pathname.replace(/\/$/, '')
  const query = queryOf(url, config)
  const authHeaders = [...config.authHeaders].flatMap(([name, value]) => [name, value.reveal()])

  return {
    send(request, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new TransportError('aborted', 'taken back', false))
        const exchange = new Exchange(signal, resolve, reject)
        pool.dispatch(
          {
            path: pathOf(basePath, request.path, query),
            method: request.verb,
            headers: [...request.headers, ...authHeaders],
            body: request.body as Buffer | null,
          },
          exchange,
        )
      })
    },
    close: () => pool.destroy(),
  }
}

/** The path and query to ask for: the URL's own base, the call's path, and the keys of both. */
function pathOf(basePath: string, path: string, query: string): string {
  const joined = basePath + path || '/'
  if (!query) return joined
  return joined + (joined.includes('?') ? '&' : '?') + query
}

function queryOf(url: URL, config: NodeUrlConfig): string {
  const keys = [...config.authQuery].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.reveal())}`,
  )
  return [url.search.slice(1), ...keys].filter(Boolean).join('&')
}

/** One request and its answer on undici's callbacks, which cost a third less than its promises. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal
  readonly #resolve: (incoming: Incoming) => void
  readonly #reject: (error: TransportError) => void
  readonly #onAbort = () => {
    this.#fail(new TransportError('aborted', 'taken back'))
  }
  #controller: Dispatcher.DispatchController | null = null
  #status = 0
  #headers: HeaderList = []
  #chunks: Buffer[] = []
  #bytes = 0
  #done = false

  constructor(
    signal: AbortSignal,
    resolve: (incoming: Incoming) => void,
    reject: (error: TransportError) => void,
  ) {
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#done) controller.abort(new Error('taken back before it was sent'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status
    this.#headers = toHeaderList(controller.rawHeaders)
    this.#chunks = []
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > maxReplyBytes)
      return this.#fail(new TransportError('too-large', `answer over ${maxReplyBytes} bytes`))
    this.#chunks.push(chunk)
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: object): void {
    if (this.#done) return
    const [first = Buffer.alloc(0), ...more] = this.#chunks
    const body = more.length === 0 ? first : Buffer.concat(this.#chunks, this.#bytes)
    const list = Object.entries(trailers).flatMap(([name, value]) => [name, String(value)])
    const encoding = header(this.#headers, 'content-encoding')
    if (encoding === null || encoding === 'identity')
      return this.#succeed({
        status: this.#status,
        headers: this.#headers,
        body,
        trailers: () => list,
      })
    decodeContent(encoding, body, maxReplyBytes).then(
      (decoded) => {
        this.#succeed({
          status: this.#status,
          headers: this.#headers,
          body: decoded,
          trailers: () => list,
        })
      },
      (cause: unknown) => {
        this.#fail(new TransportError('truncated', 'broken content encoding', true, { cause }))
      },
    )
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    const fault = faultOf(cause)
    // Once the head was there, a lost connection means that a part of the answer is missing.
    const cut = this.#status !== 0 && fault.fault === 'reset'
    this.#fail(cut ? new TransportError('truncated', fault.message, true, { cause }) : fault)
  }

  #succeed(incoming: Incoming): void {
    if (this.#done) return
    this.#end()
    this.#resolve(incoming)
  }

  #fail(error: TransportError): void {
    if (this.#done) return
    this.#end()
    this.#controller?.abort(error)
    this.#reject(error)
  }

  #end(): void {
    this.#done = true
    this.#signal.removeEventListener('abort', this.#onAbort)
  }
}

function toHeaderList(raw: Dispatcher.DispatchController['rawHeaders']): HeaderList {
  return Array.isArray(raw) ? raw.map((part) => part.toString('latin1')) : []
}
