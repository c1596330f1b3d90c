// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { buildConnector, Pool, type Dispatcher } from 'undici'
import { nodeLimits } from '../../../bytes/limits.ts'
import { takeFile } from '../../../bytes/open-files.ts'
import { Exchange, exchange, type WireOptions } from '../exchange.ts'
import { faultOf } from '../wire-fault.ts'
import { header, type Transport, TransportError } from '../../wire.ts'
import { UpstreamTarget, type WireConfig } from '../upstream-target.ts'

/** Keep-alive of an idle connection, below the timeout of common load balancers (60 s). */
const keepAliveMs = 30_000
const connectTimeoutMs = 5_000

/** The router accepts only gzip, but some upstreams answer with another coding. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}
/** No coding, or a charset that some servers write there by mistake. */
const plainCodings: ReadonlySet<string> = new Set(['', 'identity', 'utf-8', 'utf8'])

const { inflation, silentMs } = nodeLimits

/**
 * HTTP/1.1 to one URL through a pool of kept-alive connections. Answers over 1 MiB are streams,
 * which fail when their reader waits 30 s without data.
 * @throws Error naming the TLS file that cannot be read
 */
export function createHttpTransport(config: WireConfig, options: WireOptions): Transport {
  const target = new UpstreamTarget(config, {
    'user-agent': options.userAgent,
    'accept-encoding': config.compression ? 'gzip' : undefined,
  })
  const pool = new Pool(target.origin, {
    connect: boundedConnector({ ...target.tls, timeout: connectTimeoutMs, allowH2: false }),
    // Aborting a request while it sends its body would hang the process: decision 0027.
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The attempt has its own deadline; a second one here would hide which of them expired.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  return {
    send: (request, signal) =>
      exchange(signal, (resolve, reject) => {
        pool.dispatch(
          {
            path: target.pathOf(request.path),
            method: request.verb,
            headers: target.headersWith(request.headers) as string[],
            body: request.body as Buffer | null,
          },
          new UndiciExchange(options, signal, resolve, reject),
        )
      }),
    close: (isGentle) => (isGentle ? pool.close() : pool.destroy()),
  }
}

/** Connects unless connections to nodes have used up their share of files. */
function boundedConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (to, connected) => {
    const free = takeFile()
    if (free === null) {
      const details = { code: 'EMFILE', syscall: 'connect' }
      const error = Object.assign(new Error('no file is left for a connection'), details)
      return queueMicrotask(() => connected(error, null))
    }
    connect(to, (...result) => {
      const [, socket] = result
      if (socket) socket.once('close', free)
      else free()
      connected(...result)
    })
  }
}

/** One request and its answer on undici's callbacks, which cost a third less than its promises. */
class UndiciExchange extends Exchange implements Dispatcher.DispatchHandler {
  protected readonly stallMs = silentMs
  #controller: Dispatcher.DispatchController | null = null
  /** Creates the decoder of the body; null for a body without a coding. */
  #newDecoder: (() => Transform) | null = null
  #decoder: Transform | null = null
  #decoded = false
  #encodedBytes = 0
  #received = false

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.isOver) controller.abort(new Error('aborted before it was sent'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return this.interim()
    if (this.isOver) return
    this.status = status
    const { rawHeaders } = controller
    this.headers = Array.isArray(rawHeaders)
      ? rawHeaders.map((part) => part.toString('latin1'))
      : []
    this.flow = controller
    const coding = header(this.headers, 'content-encoding')?.trim().toLowerCase() ?? ''
    if (plainCodings.has(coding)) return
    const newDecoder = decoders[coding]
    // The router accepts only gzip, so an unknown coding violates the protocol.
    if (newDecoder === undefined)
      return this.fail(new TransportError('protocol', 'unknown content encoding'))
    this.#newDecoder = newDecoder
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver || this.#decoded) return
    if (this.#newDecoder === null) return this.push(chunk)
    this.#encodedBytes += chunk.length
    // An answer to HEAD names the coding of a body that it does not have.
    this.#decoder ??= this.#decode(this.#newDecoder(), controller)
    if (!this.#decoder.write(chunk)) controller.pause()
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: object): void {
    if (this.isOver) return
    for (const [name, value] of Object.entries(trailers))
      this.trailers = [...this.trailers, name, String(value)]
    this.#received = true
    if (this.#decoder === null || this.#decoded) this.complete()
    else this.#decoder.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    const fault = faultOf(cause)
    // After the head, a lost connection means a truncated answer.
    const cut = this.status > 0 && fault.fault === 'reset'
    this.fail(cut ? new TransportError('truncated', fault.message, true, { cause }) : fault)
  }

  override get progress(): string {
    // undici assigns a controller only once a connection is open and free.
    return this.#controller === null ? 'no connection was there yet' : super.progress
  }

  #decode(decoder: Transform, controller: Dispatcher.DispatchController): Transform {
    this.flow = decoder
    let bytes = 0
    return decoder
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > inflation.bytes && bytes > inflation.ratio * this.#encodedBytes)
          this.fail(new TransportError('too-large', `over ${inflation.ratio} times its length`))
        else this.push(chunk)
      })
      .on('drain', () => controller.resume())
      .on('end', () => {
        // A coding may end before the message does.
        this.#decoded = true
        if (this.#received) this.complete()
        else controller.resume()
      })
      .on('error', (cause) => {
        this.fail(new TransportError('truncated', 'broken content encoding', true, { cause }))
      })
  }

  /** The declared length, which the HTTP library enforces. */
  override announcedBytes(): number | null {
    const declared = this.#decoder ? null : header(this.headers, 'content-length')
    return declared !== null && /^\d{1,15}$/.test(declared) ? Number(declared) : null
  }

  protected reset(error: TransportError): void {
    this.#controller?.abort(error)
    this.#decoder?.destroy()
  }
}
