// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Incoming, Outgoing } from './wire.ts'

/** Why no complete answer came. The failure table knows what follows from each. */
export type TransportFault =
  | 'refused' // nobody listens: the request was not sent
  | 'unresolved' // the name has no address
  | 'tls' // certificate or handshake
  | 'reset' // the connection ended before the answer did
  | 'truncated' // fewer bytes than announced, or a broken encoding
  | 'protocol' // not an answer in the protocol
  | 'too-large' // more bytes than the router takes
  | 'timeout' // the budget of the attempt was used up
  | 'unsendable' // the request cannot be written: its own fault, nothing was sent
  | 'aborted' // taken back by the router: the client left, or another attempt won

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
  send(request: Outgoing, signal: AbortSignal): Promise<Incoming>
  /** Ends idle connections at once and the rest with their exchanges. */
  close(): Promise<void>
}
