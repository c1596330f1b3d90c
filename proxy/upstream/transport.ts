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

  constructor(fault: TransportFault, message: string, sent = true, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
    this.sent = sent
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
