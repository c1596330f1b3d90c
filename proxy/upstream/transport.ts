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

const unsent: TransportFault[] = ['refused', 'unresolved', 'tls']

const faultsByCode: Readonly<Record<string, TransportFault>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  ETIMEDOUT: 'reset',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  EPROTO: 'tls',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'truncated',
}

/** Certificate errors of OpenSSL have no common prefix. */
const tlsCode =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|ERR_OSSL)/

/**
 * What an error of Node or of an HTTP library means. Only its code is taken over: its message may
 * name hosts and addresses.
 */
export function faultOf(cause: Error): TransportError {
  if (cause instanceof TransportError) return cause
  const code = codeOf(cause)
  const connecting = (cause as NodeJS.ErrnoException).syscall === 'connect'
  const fault = connecting
    ? 'refused'
    : (faultsByCode[code] ?? (tlsCode.test(code) ? 'tls' : 'protocol'))
  return new TransportError(fault, code || 'unknown error', !unsent.includes(fault), { cause })
}

function codeOf(cause: Error): string {
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
    return codeOf(cause.errors[0])
  return (cause as NodeJS.ErrnoException).code ?? ''
}
