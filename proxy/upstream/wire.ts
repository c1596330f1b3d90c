// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Writable } from 'node:stream'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { GrowingBuffer } from '../bytes/growing-buffer.ts'
import type { TransportFault } from '../chain/failure-table.ts'
import type { CancelSignal } from '../clock/cancellation.ts'

/*
 * What travels between the router and an upstream, in terms of no library and no protocol: HTTP,
 * gRPC and WebSocket transports all take an `Outgoing` and give an `Incoming`.
 */

/** Names and values in turn, in the order and spelling of the wire; a name may come twice. */
export type HeaderList = readonly string[]

/**
 * Bytes as they come. Read once, by one reader, unless it says more; one that leaves early (`return`)
 * frees what they come from. A reader gets all of it or fails: a part never ends as if it were all.
 */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** How many bytes will come, when that is known before. */
  readonly length?: number | null
  /** What is kept of it where it comes from, while nobody reads it. */
  readonly behindBytes?: number
  /**
   * Whether it can be read once more from its beginning, when its reader has given up; absent: never.
   * True may become false as more comes.
   */
  readonly isRepeatable?: boolean
  /** Calls once when all of it has come, at once when it has; never when it breaks off. Absent: it is here. */
  whenWhole?(run: () => void): void
}

/** All of a message's bytes, or the bytes as they come. */
export type Body = Uint8Array | ByteStream

/** An answer that is too long to be collected: all of it from the beginning. */
export interface BodyStream extends ByteStream {
  /** Until it is read: the first bytes that will come, in pieces, by which it can be judged. */
  readonly head: readonly Uint8Array[]
}

/** One request towards an upstream. */
export interface Outgoing {
  /** HTTP's method; for gRPC `POST`. */
  readonly verb: string
  /** Appended to the path of the upstream's URL, with its query; empty for the URL itself. */
  readonly path: string
  readonly headers: HeaderList
  /** Bytes may be sent again on a retry; a stream allows one attempt only. */
  readonly body: Body | null
  /** gRPC: the answer begins with its first message or its status, not with its head. */
  readonly awaitsMessage?: boolean
}

/** One answer of an upstream. */
export interface Incoming {
  /** HTTP status; a gRPC answer has 200 and its `grpc-status` among the trailers. */
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array | BodyStream
  /** Known once the body has been read to its end. */
  trailers(): HeaderList
}

/** Rejection of `Transport.send`. The message never names a URL, a header or a key. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly fault: TransportFault
  /** False only when it is certain that the upstream never saw the request. */
  readonly sent: boolean
  /** `limited`: for how long nothing is to be sent, where the node says so. */
  readonly retryAfterMs: number | null

  constructor(
    fault: TransportFault,
    message: string,
    sent = true,
    options: ErrorOptions & { readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, options)
    this.fault = fault
    this.sent = sent
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

/** The request was aborted by its caller. */
export function aborted(sent = true): TransportError {
  return new TransportError('aborted', 'aborted', sent)
}

/** The wire to one URL: connections, authentication, encoding. It knows nothing of any chain. */
export interface Transport {
  /**
   * Sends one request and resolves once the answer's head is there, and its whole body unless that
   * is longer than the transport collects: then the body is a stream, which must be read to its end
   * or released, and which fails with a TransportError when the connection does.
   * Aborting the signal ends the exchange at any point, also in the middle of the stream, and
   * releases its connection.
   * @throws TransportError
   */
  send(request: Outgoing, signal: CancelSignal): Promise<Incoming>
  /**
   * Sends nothing more, and ends every connection.
   * @param isGentle one that is in use ends when it is not any more; resolves when none is left that keeps the process alive
   */
  close(isGentle?: boolean): Promise<void>
}

/** The wire to one WebSocket URL: requests and answers as on any other, and subscriptions. */
export interface SocketTransport extends Transport {
  /**
   * Sends a request that opens a subscription, over a connection that may be shared. Requests are
   * JSON-RPC objects with an `id`.
   * @param signal of no effect once the request is sent: the answer says what would have to be ended
   * @throws TransportError
   * @throws NoRoom
   */
  subscribe(request: Outgoing, signal: CancelSignal): Promise<UpstreamSubscription>
}

/** A subscription at one upstream, on one of the connections to it. */
export interface UpstreamSubscription {
  /** The answer to the request, which may be an error: then nothing will come. */
  readonly reply: Incoming
  /** Begins to listen, once. What has come since the request was sent comes first. */
  listen(listener: SubscriptionListener): void
  /**
   * No event comes any more. The request, when there is one, is sent on the same connection (the id
   * of a subscription means nothing on another); its answer is dropped.
   */
  close(unsubscribe: Outgoing | null): void
}

export interface SubscriptionListener {
  /** `params.result`, or `result` where the node sends further answers. Valid JSON in UTF-8. */
  event(result: Uint8Array): void
  /** The last call: nothing comes any more, and what was underway may be lost. Not after `close`. */
  lost(error: TransportError): void
}

/** The router itself has as many connections there as it allows itself: the node is not to blame. */
export class NoRoom extends TransportError {
  constructor() {
    super('refused', 'every connection is in full use', false)
  }
}

/** The first value of a header, whatever its spelling in the list; null when it is absent. `name` is lower case. */
export function header(headers: HeaderList, name: string): string | null {
  for (let at = 0; at < headers.length; at += 2) {
    const each = headers[at] as string
    // Most differ in length already, and lower case is a string of its own.
    if (each.length === name.length && (each === name || each.toLowerCase() === name))
      return headers[at + 1] ?? null
  }
  return null
}

/** Releases a stream that will not be read; bytes need no such thing. */
export function release(body: Body): void {
  if (!(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.()
}

/** Waits until the other end has taken all that was written, or is gone. */
export function drained(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stream.once('drain', resolve).once('close', resolve)
  return promise.finally(() => stream.off('drain', resolve).off('close', resolve))
}

const uncounted = new ByteBudget(Infinity)

/**
 * All bytes of an answer, also of one that came as a stream; null when there are more than `maxBytes`,
 * and then the stream is released.
 * @param noRoom the error where the budget has no room for them; absent: they are counted, whatever there is
 * @throws TransportError when the stream fails
 */
export async function wholeBody(
  body: Body,
  maxBytes: number,
  budget = uncounted,
  noRoom?: () => Error,
): Promise<Uint8Array | null> {
  if (body instanceof Uint8Array) return body.length <= maxBytes ? body : null
  const collected = new GrowingBuffer(budget)
  try {
    for await (const piece of body) {
      const { length } = collected
      if (length + piece.length > maxBytes) return null
      if (noRoom && !budget.allows(length, length + piece.length)) throw noRoom()
      collected.push(piece)
    }
    return collected.bytes
  } finally {
    collected.release()
  }
}

const isRangesType = /^multipart\/byteranges\b/i

/**
 * The body is a range of the whole, or several (RFC 9110, 15.3.7). HTTP 206 without a range is how
 * some REST nodes say that a part of what was sent has failed: that answer is whole.
 */
export function isPartial({ status, headers }: Pick<Incoming, 'status' | 'headers'>): boolean {
  if (status !== 206) return false
  const isRanges = isRangesType.test(header(headers, 'content-type') ?? '')
  return isRanges || header(headers, 'content-range') !== null
}

/**
 * A status under which the whole of what was asked for may come (RFC 9110, 15.3): JSON-RPC knows 200,
 * and servers on some frameworks say 201 to every POST. A redirection, no content, content that the
 * client must reset, or a part of it: none of these is an answer, whatever stands in the body.
 */
export function mayBeWhole(status: number): boolean {
  return status >= 200 && status <= 203
}

/**
 * Reads `Retry-After`: seconds, which some providers write as a fraction, or an HTTP date.
 * @returns milliseconds from now, 0 also for a date that has passed; null when there is none or it makes no sense
 */
export function parseRetryAfter(value: string | null, wallMs: number): number | null {
  const text = value?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  // Date.parse takes nearly anything for a date; an HTTP date ends with its zone.
  const atMs = text.endsWith('GMT') ? Date.parse(text) : NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - wallMs)
}
