// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CancelSignal } from '../clock/cancellation.ts'
import { TransportError, type Transport } from './transport.ts'
import type { Incoming, Outgoing } from './wire.ts'

/** Something that an upstream says to a subscription, as the bytes of its JSON. */
export interface Notification {
  /** `eth_subscription`, `slotNotification`; null where the node sends answers to the request instead. */
  readonly method: string | null
  /** What is new: `params.result`, or `result` where the node sends answers. Valid JSON in UTF-8. */
  readonly result: Uint8Array
}

/** Hears of one subscription at one upstream. */
export interface NotificationListener {
  notified(notification: Notification): void
  /** The last word: nothing comes any more, and what was underway may be lost. Not after `close`. */
  lost(error: TransportError): void
}

/** A subscription at one upstream, on one of the connections to it. */
export interface UpstreamSubscription {
  /** The answer to the request, which may be an error: then nothing will come. */
  readonly reply: Incoming
  /**
   * Begins to listen, once. What has come since the request was sent is kept until then, and told
   * first, before this returns.
   */
  listen(listener: NotificationListener): void
  /**
   * Hears nothing more. The request, when there is one, is sent on the same connection (the id of a
   * subscription means nothing on another); its answer is dropped.
   */
  close(unsubscribe: Outgoing | null): void
}

/** The wire to one WebSocket URL: requests and answers as on any other, and subscriptions. */
export interface SocketTransport extends Transport {
  /**
   * Sends a request that opens a subscription, over a connection that may be shared. Requests are
   * JSON-RPC objects with an `id`.
   * @param signal takes the request back; of no effect once there is a reply
   * @param undo how that is ended which a late answer to a request taken back says to be open; null
   * where it says no such thing
   * @throws TransportError
   * @throws NoRoom
   */
  subscribe(request: Outgoing, signal: CancelSignal, undo: Undo): Promise<UpstreamSubscription>
}

export type Undo = (reply: Incoming) => Outgoing | null

/** The router itself has as many connections there as it allows itself: the node is not to blame. */
export class NoRoom extends TransportError {
  constructor() {
    super('refused', 'every connection is in full use', false)
  }
}
