// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../../../clock/cancellation.ts'
import type { Transform } from 'node:stream'
import { Pool, type Dispatcher } from 'undici'
import type { Clock } from '../../../clock/clock.ts'
import type { NodeUrlConfig } from '../../../config/types.ts'
import { createDecoder, isPlainCoding } from './content-encoding.ts'
import { ReplyBody, type ReplyBodyLimits } from './reply-body.ts'
import { faultOf } from './http-fault.ts'
import { TransportError, type Transport } from '../../transport.ts'
import { UpstreamTarget } from '../upstream-target.ts'
import { header, type HeaderList, type Incoming } from '../../wire.ts'

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

/** A body that is decoded to more than this, and to so many times its length, is a bomb. */
const bomb = { bytes: 64 * mebibyte, ratio: 500 }

export interface HttpTransportOptions {
  /** `rpc-router/1.2.3`. */
  readonly userAgent?: string
  readonly clock: Clock
  /** Hears of bytes that passed in a stream. */
  readonly streamed?: ((bytes: number) => void) | undefined
}

/**
 * HTTP/1.1 to one URL through a pool of kept-alive connections. Answers over 1 MiB are streams, which
 * fail when less than 64 KiB come in 30 s for which their reader waits.
 * @throws Error naming the file, when a TLS file cannot be read
 */
export function createHttpTransport(
  config: NodeUrlConfig,
  options: HttpTransportOptions,
): Transport {
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
    send(request, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new TransportError('aborted', 'taken back', false))
        const exchange = new Exchange(options, signal, resolve, reject)
        pool.dispatch(
          {
            path: target.pathOf(request.path),
            method: request.verb,
            headers: target.headersWith(request.headers) as string[],
            body: request.body as Buffer | null,
          },
          exchange,
        )
      })
    },
    close: () => pool.destroy(),
  }
}

/**
 * One request and its answer on undici's callbacks, which cost a third less than its promises. A short
 * answer is collected here; one that turns out to be long, or is to be decoded, becomes a `ReplyBody`.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: HttpTransportOptions
  readonly #signal: CancelSignal
  readonly #resolve: (incoming: Incoming) => void
  readonly #reject: (error: TransportError) => void
  readonly #onAbort = () => {
    this.#fail(new TransportError('aborted', 'taken back'))
  }
  #controller: Dispatcher.DispatchController | null = null
  /** 0 until the head of the answer is there. */
  #status = 0
  #headers: HeaderList = []
  readonly #pieces: Buffer[] = []
  #collectedBytes = 0
  #body: ReplyBody | null = null
  #decoder: Transform | null = null
  #decoded = false
  #encodedBytes = 0
  #received = false
  #trailers: HeaderList = []
  #over = false

  constructor(
    options: HttpTransportOptions,
    signal: CancelSignal,
    resolve: (incoming: Incoming) => void,
    reject: (error: TransportError) => void,
  ) {
    this.#options = options
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#over) controller.abort(new Error('taken back before it was sent'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#over) return
    this.#status = status
    this.#headers = toHeaderList(controller.rawHeaders)
    const encoding = header(this.#headers, 'content-encoding')
    if (isPlainCoding(encoding)) return
    const decoder = createDecoder(encoding ?? '')
    // The router asks for gzip at most, so a coding that it does not know is against the rules.
    if (decoder === null)
      return this.#fail(new TransportError('protocol', 'unknown content encoding'))
    this.#decode(decoder, this.#becomeBody(decoder, null), controller)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over || this.#decoded) return
    if (this.#decoder !== null) {
      this.#encodedBytes += chunk.length
      if (!this.#decoder.write(chunk)) controller.pause()
      return
    }
    if (this.#body) return this.#body.push(chunk)
    this.#pieces.push(chunk)
    this.#collectedBytes += chunk.length
    if (this.#collectedBytes <= bodyLimits.collectBytes) return
    const body = this.#becomeBody(controller, lengthOf(this.#headers))
    for (const piece of this.#pieces.splice(0)) body.push(piece)
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: object): void {
    if (this.#over) return
    for (const [name, value] of Object.entries(trailers))
      this.#trailers = [...this.#trailers, name, String(value)]
    this.#received = true
    if (this.#decoder === null || this.#decoded) this.#complete()
    else this.#decoder.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    const fault = faultOf(cause)
    // Once the head was there, a lost connection means that a part of the answer is missing.
    const cut = this.#status > 0 && fault.fault === 'reset'
    this.#fail(cut ? new TransportError('truncated', fault.message, true, { cause }) : fault)
  }

  #becomeBody(flow: Transform | Dispatcher.DispatchController, length: number | null): ReplyBody {
    const body = new ReplyBody({
      ...bodyLimits,
      ...this.#options,
      length,
      source: {
        pause: () => void flow.pause(),
        resume: () => void flow.resume(),
        abort: (error) => {
          this.#fail(error)
        },
      },
      ready: (ready) => {
        this.#ready(ready)
      },
    })
    this.#body = body
    return body
  }

  #ready(body: Incoming['body']): void {
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body,
      trailers: () => this.#trailers,
    })
  }

  #decode(decoder: Transform, body: ReplyBody, controller: Dispatcher.DispatchController): void {
    this.#decoder = decoder
    let bytes = 0
    decoder
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > bomb.bytes && bytes > bomb.ratio * this.#encodedBytes)
          return this.#fail(new TransportError('too-large', `over ${bomb.ratio} times its length`))
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
        this.#fail(new TransportError('truncated', 'broken content encoding', true, { cause }))
      })
  }

  #complete(): void {
    this.#end()
    if (this.#body) return this.#body.end()
    const [first] = this.#pieces
    const isOne = first !== undefined && this.#pieces.length === 1
    this.#ready(isOne ? first : Buffer.concat(this.#pieces, this.#collectedBytes))
  }

  #fail(error: TransportError): void {
    if (this.#over) return
    this.#end()
    this.#controller?.abort(error)
    this.#decoder?.destroy()
    // Harmless once it was resolved: then whoever reads the stream hears of it.
    this.#reject(error)
    this.#body?.fail(error)
  }

  #end(): void {
    this.#over = true
    this.#signal.removeEventListener('abort', this.#onAbort)
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
