// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Writable } from 'node:stream'
import { ByteBudget } from '../bytes/byte-budget.ts'
import { GrowingBuffer } from '../bytes/growing-buffer.ts'
import type { TransportFault } from '../chain/failure-table.ts'
import type { CancelSignal } from '../clock/cancellation.ts'

/*
 * Messages between the router and an upstream, independent of library and protocol: HTTP, gRPC and
 * WebSocket transports all accept an `Outgoing` and return an `Incoming`.
 */

/** Alternating names and values, in the order and spelling of the wire; names may repeat. */
export type HeaderList = readonly string[]

/**
 * A stream of bytes for one reader, who reads it once unless `isRepeatable`. Calling `return` early
 * frees the source. The reader gets all bytes or an error: a truncated stream never ends normally.
 */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** Number of bytes, if known in advance. */
  readonly length?: number | null
  /** Number of bytes that a reader has got so far; absent if not counted. */
  readonly passedBytes?: number
  /** Bytes that the source buffers while nothing is read. */
  readonly behindBytes?: number
  /**
   * Whether it can be read again from the beginning after the reader gave up. May change from true
   * to false as more bytes arrive.
   */
  readonly isRepeatable?: boolean
  /** Calls `run` once all bytes have arrived; never if the stream fails. Absent if in memory. */
  whenWhole?(run: () => void): void
}

/** The bytes of a message, in memory or as a stream. */
export type Body = Uint8Array | ByteStream

/** The complete body of an answer that is too long to collect. */
export interface BodyStream extends ByteStream {
  /** The first chunks, available for validation before the stream is read. */
  readonly head: readonly Uint8Array[]
}

/** One request to an upstream. */
export interface Outgoing {
  /** HTTP method; `POST` for gRPC. */
  readonly verb: string
  /** Appended to the path of the upstream's URL, with its query; empty for the URL itself. */
  readonly path: string
  readonly headers: HeaderList
  /** Bytes may be sent again on a retry; a stream allows one attempt only. */
  readonly body: Body | null
  /** JSON-RPC: the item may leave together with others of its batch. */
  readonly batch?: BatchItem | undefined
  /** gRPC: the answer starts with its first message or its status, not with its head. */
  readonly awaitsMessage?: boolean
}

/** Identifies one batch of a client. Its items may join on the wire, whichever layers they pass. */
export interface BatchToken {
  /** Number of items. */
  readonly size: number
}

export interface BatchItem {
  readonly token: BatchToken
  /** JSON of the id that the request bears. */
  readonly id: Uint8Array
}

/** One answer of an upstream. */
export interface Incoming {
  /** HTTP status; 200 for gRPC, whose `grpc-status` is in the trailers. */
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array | BodyStream
  /** Available once the body has been read to its end. */
  trailers(): HeaderList
}

/** Rejection of `Transport.send`. The message never names a URL, a header or a key. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly fault: TransportFault
  /** False only if the upstream certainly never received the request. */
  readonly sent: boolean
  /** `limited`: the `Retry-After` of the node, if any. */
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

/** Transport to one URL: connections, authentication and encoding, independent of any chain. */
export interface Transport {
  /**
   * Sends one request. Resolves with the answer, whose body is in memory up to the transport's
   * limit. A longer body is a stream, which must be read to its end or released, and which fails
   * with a TransportError when the connection does. Aborting the signal ends the exchange at any
   * point, even within the stream, and releases its connection.
   * @throws TransportError
   */
  send(request: Outgoing, signal: CancelSignal): Promise<Incoming>
  /**
   * Stops sending and closes every connection.
   * @param isGentle waits for connections in use, and resolves when none keeps the process alive
   */
  close(isGentle?: boolean): Promise<void>
}

/** Transport to one WebSocket URL, which also supports subscriptions. */
export interface SocketTransport extends Transport {
  /**
   * Sends a request that opens a subscription, over a connection that may be shared. Requests are
   * JSON-RPC objects with an `id`.
   * @param signal has no effect once the request is sent, since only the answer has the id to end
   * @throws TransportError
   * @throws NoRoom
   */
  subscribe(request: Outgoing, signal: CancelSignal): Promise<UpstreamSubscription>
}

/** A subscription on one connection to an upstream. */
export interface UpstreamSubscription {
  /** The answer to the request. After an error no events follow. */
  readonly reply: Incoming
  /**
   * The node refused it because of a limit. If its connection has others, the transport puts no
   * more than those on one connection for some time.
   * @returns whether another attempt may succeed, on another connection
   */
  limited?(): boolean
  /** Starts delivery, once. Events since the request come first. */
  listen(listener: SubscriptionListener): void
  /**
   * Ends delivery. The request, if any, is sent on the same connection, since a subscription id is
   * valid only there; its answer is dropped.
   */
  close(unsubscribe: Outgoing | null): void
}

export interface SubscriptionListener {
  /** `params.result`, or `result` if the node sends further answers. Valid JSON in UTF-8. */
  event(result: Uint8Array): void
  /** The last callback: the subscription ended and events may be lost. Not called after `close`. */
  lost(error: TransportError): void
}

/** The router reached its own connection limit, so the node is not to blame. */
export class NoRoom extends TransportError {
  constructor() {
    super('refused', 'every connection is in full use', false)
  }
}

/** First value of a header, case-insensitive; null if absent. `name` must be in lower case. */
export function header(headers: HeaderList, name: string): string | null {
  for (let at = 0; at < headers.length; at += 2) {
    const each = headers[at] as string
    // The length check is cheap and avoids most allocations of lower-case strings.
    if (each.length === name.length && (each === name || each.toLowerCase() === name))
      return headers[at + 1] ?? null
  }
  return null
}

/** Releases a stream that will not be read. Bytes need no release. */
export function release(body: Body): void {
  if (!(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.()
}

/** Waits until a stream has drained or closed. */
export function drained(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stream.once('drain', resolve).once('close', resolve)
  return promise.finally(() => stream.off('drain', resolve).off('close', resolve))
}

const uncounted = new ByteBudget(Infinity)

/**
 * Collects all bytes of a body; null if there are more than `maxBytes`, which releases the stream.
 * @param noRoom creates the error if the budget is used up; if absent, the bytes are only counted
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
  const source = { announcedBytes: () => body.length ?? null }
  try {
    for await (const piece of body) {
      const { length } = collected
      if (length + piece.length > maxBytes) return null
      if (noRoom && !budget.allows(length, length + piece.length)) throw noRoom()
      collected.push(piece, source)
    }
    return collected.bytes
  } finally {
    collected.release()
  }
}

const isRangesType = /^multipart\/byteranges\b/i

/**
 * Whether the body is one or several ranges (RFC 9110, 15.3.7). Some REST nodes send HTTP 206
 * without a range to report a partial failure; such an answer is complete.
 */
export function isPartial({ status, headers }: Pick<Incoming, 'status' | 'headers'>): boolean {
  if (status !== 206) return false
  const isRanges = isRangesType.test(header(headers, 'content-type') ?? '')
  return isRanges || header(headers, 'content-range') !== null
}

/**
 * Whether a complete answer may have this status (RFC 9110, 15.3): JSON-RPC uses 200, and some
 * frameworks return 201 to every POST. Redirects, 204, 205 and 206 carry no complete answer.
 */
export function mayBeWhole(status: number): boolean {
  return status >= 200 && status <= 203
}
