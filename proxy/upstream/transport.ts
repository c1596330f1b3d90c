// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../clock/cancellation.ts'
import type { TransportFault } from '../chain/failure-table.ts'
import type { Incoming, Outgoing } from './wire.ts'

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
  /** Ends idle connections at once and the rest with their exchanges. */
  close(): Promise<void>
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
