// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { Pool, type Dispatcher } from 'undici'
import type { NodeUrlConfig } from '../../../config/types.ts'
import { Exchange, exchange, type WireOptions } from '../exchange.ts'
import type { ReplyBody, ReplyBodyLimits } from './reply-body.ts'
import { faultOf } from './http-fault.ts'
import { TransportError, type Transport } from '../../transport.ts'
import { UpstreamTarget } from '../upstream-target.ts'
import { header, type HeaderList } from '../../wire.ts'

/** How long an idle connection is kept: below what common load balancers close at (60 s). */
const keepAliveMs = 30_000
const connectTimeoutMs = 5_000
const mebibyte = 1024 * 1024

const bodyLimits: ReplyBodyLimits = {
  collectBytes: mebibyte,
  waitingBytes: 64 * 1024,
  stallMs: 30_000,
  // A stream costs no memory; this ends one that has no end.
  maxBytes: 16 * 1024 * mebibyte,
}

/** The router asks for gzip at most, but some upstreams answer with another coding. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}
/** No coding at all; and what some servers write there by mistake, the text's own encoding. */
const plainCodings: ReadonlySet<string> = new Set(['', 'identity', 'utf-8', 'utf8'])

/** A body that is decoded to more than this, and to so many times its length, is a bomb. */
const bomb = { bytes: 64 * mebibyte, ratio: 500 }

/**
 * HTTP/1.1 to one URL through a pool of kept-alive connections. Answers over 1 MiB are streams, which
 * fail when less than 64 KiB come in 30 s for which their reader waits.
 * @throws Error naming the file, when a TLS file cannot be read
 */
export function createHttpTransport(config: NodeUrlConfig, options: WireOptions): Transport {
  const asksForGzip = config.compression ?? config.scheme === 'https'
  const target = new UpstreamTarget(config, {
    'user-agent': options.userAgent,
    'accept-encoding': asksForGzip ? 'gzip' : undefined,
  })
  const pool = new Pool(target.origin, {
    connect: { ...target.tls, timeout: connectTimeoutMs },
    // A request that is taken back while its body is on its way stops the process for good: decision 0027.
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The attempt has its own time; a second clock here would only blur who gave up.
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
          new HttpExchange(options, signal, resolve, reject),
        )
      }),
    close: () => pool.destroy(),
  }
}

/**
 * One request and its answer on undici's callbacks, which cost a third less than its promises. A short
 * answer is collected here; one that turns out to be long, or is to be decoded, becomes a `ReplyBody`.
 */
class HttpExchange extends Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null
  readonly #pieces: Buffer[] = []
  #collectedBytes = 0
  #decoder: Transform | null = null
  #decoded = false
  #encodedBytes = 0
  #received = false

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.isOver) controller.abort(new Error('taken back before it was sent'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.isOver) return
    this.status = status
    this.headers = toHeaderList(controller.rawHeaders)
    const coding = header(this.headers, 'content-encoding')?.trim().toLowerCase() ?? ''
    if (plainCodings.has(coding)) return
    const decoder = decoders[coding]?.()
    // The router asks for gzip at most, so a coding that it does not know is against the rules.
    if (decoder === undefined)
      return this.fail(new TransportError('protocol', 'unknown content encoding'))
    this.#decode(decoder, this.openBody(decoder, null, bodyLimits), controller)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver || this.#decoded) return
    if (this.#decoder !== null) {
      this.#encodedBytes += chunk.length
      if (!this.#decoder.write(chunk)) controller.pause()
      return
    }
    if (this.body) return this.body.push(chunk)
    this.#pieces.push(chunk)
    this.#collectedBytes += chunk.length
    if (this.#collectedBytes <= bodyLimits.collectBytes) return
    const body = this.openBody(controller, lengthOf(this.headers), bodyLimits)
    for (const piece of this.#pieces.splice(0)) body.push(piece)
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: object): void {
    if (this.isOver) return
    for (const [name, value] of Object.entries(trailers))
      this.trailers = [...this.trailers, name, String(value)]
    this.#received = true
    if (this.#decoder === null || this.#decoded) this.#complete()
    else this.#decoder.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    const fault = faultOf(cause)
    // Once the head was there, a lost connection means that a part of the answer is missing.
    const cut = this.status > 0 && fault.fault === 'reset'
    this.fail(cut ? new TransportError('truncated', fault.message, true, { cause }) : fault)
  }

  #decode(decoder: Transform, body: ReplyBody, controller: Dispatcher.DispatchController): void {
    this.#decoder = decoder
    let bytes = 0
    decoder
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > bomb.bytes && bytes > bomb.ratio * this.#encodedBytes)
          return this.fail(new TransportError('too-large', `over ${bomb.ratio} times its length`))
        body.push(chunk)
      })
      .on('drain', () => {
        controller.resume()
      })
      .on('end', () => {
        // A coding may tell its own end before the message has ended.
        this.#decoded = true
        if (this.#received) this.#complete()
        else controller.resume()
      })
      .on('error', (cause) => {
        this.fail(new TransportError('truncated', 'broken content encoding', true, { cause }))
      })
  }

  #complete(): void {
    this.end()
    if (this.body) return this.body.end()
    const [first] = this.#pieces
    const isOne = first !== undefined && this.#pieces.length === 1
    this.ready(isOne ? first : Buffer.concat(this.#pieces, this.#collectedBytes))
  }

  protected reset(error: TransportError): void {
    this.#controller?.abort(error)
    this.#decoder?.destroy()
  }
}

function toHeaderList(raw: Dispatcher.DispatchController['rawHeaders']): HeaderList {
  return Array.isArray(raw) ? raw.map((part) => part.toString('latin1')) : []
}

/** The declared length; the HTTP library sees to it that so many bytes come. */
function lengthOf(headers: HeaderList): number | null {
  const declared = header(headers, 'content-length')
  return declared !== null && /^\d{1,15}$/.test(declared) ? Number(declared) : null
}
