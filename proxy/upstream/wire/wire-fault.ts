// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { TransportFault } from '../../chain/failure-table.ts'
import { longestPauseMs } from '../health.ts'
import { TransportError } from '../wire.ts'

const neverSent: readonly TransportFault[] = [
  'refused',
  'unresolved',
  'tls',
  'exhausted',
  'unsendable',
]

const faultsByCode: Readonly<Record<string, TransportFault>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  ETIMEDOUT: 'reset',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  EPROTO: 'tls',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'truncated',
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'too-large',
  UND_ERR_INVALID_ARG: 'unsendable',
  UND_ERR_NOT_SUPPORTED: 'unsendable',
  // The config no longer has the upstream.
  UND_ERR_CLOSED: 'refused',
  // The router itself has closed the connection.
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
}

/** The process or the machine has no file, port, buffer or memory left. */
const exhausted: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

/** TLS errors in words for people; keys are codes of Node and OpenSSL. */
const tlsWords: readonly (readonly [codes: RegExp, words: string])[] = [
  [/SELF_SIGNED/, 'the certificate is self-signed'],
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH/, 'the certificate is for another name'],
  [/CERT_HAS_EXPIRED/, 'the certificate has expired'],
  [/CERT_NOT_YET_VALID/, 'the certificate is not valid yet'],
  [/UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED/, 'the certificate is of an unknown authority'],
  [/ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, 'the server speaks another version of TLS'],
  [/CERTIFICATE_REQUIRED|BAD_CERTIFICATE/, 'the server refuses the client certificate'],
  [
    /HANDSHAKE_FAILURE/,
    'the server refuses the handshake: no cipher in common, or it wants a client certificate',
  ],
  [/EPROTO|WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST/, 'the server does not speak TLS'],
]

/** OpenSSL certificate errors have no common prefix. */
const tlsCode =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|ERR_OSSL)/

/**
 * Fault for an error of Node or a wire library. Uses only its code, since its message may have
 * addresses.
 */
export function faultOf(cause: Error): TransportError {
  if (cause instanceof TransportError) return cause
  // A host with several addresses, each of which failed.
  const all = cause instanceof AggregateError ? (cause.errors as Error[]) : [cause]
  const first = all.find((each) => !isExhausted(each)) ?? all[0] ?? cause
  const { code = '', syscall } = first as NodeJS.ErrnoException
  const connecting = syscall === 'connect' ? 'refused' : faultsByCode[code]
  const fault = isExhausted(first)
    ? 'exhausted'
    : (connecting ?? (tlsCode.test(code) ? 'tls' : 'protocol'))
  const plain = fault === 'too-large' ? 'a message over the limit' : code
  const words = fault === 'tls' ? wordsOf(code === 'EPROTO' ? reasonOf(first) : code) : plain
  return new TransportError(fault, words || 'unknown error', !neverSent.includes(fault), { cause })
}

/** Without IPv6, its addresses are not available either, but that is no lack of ports. */
function isExhausted(error: NodeJS.ErrnoException & { readonly address?: string }): boolean {
  const { code = '', address = '' } = error
  return exhausted.has(code) || (code === 'EADDRNOTAVAIL' && !address.includes(':'))
}

/** The OpenSSL reason as a code, as Node writes it elsewhere. As a constant, it reveals nothing. */
function reasonOf({ message }: Error): string {
  const [, reason] = /:SSL routines:[^:]*:([^:]+)/.exec(message) ?? []
  return reason ? `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}` : 'EPROTO'
}

function wordsOf(code: string): string {
  const found = tlsWords.find(([codes]) => codes.test(code))
  return found ? `${found[1]}, ${code}` : code
}

/** Fault when a node answers in HTTP. A busy node enters cooldown for as long as it requests. */
export function refusalOf(status: number, namedMs: number | null): TransportError {
  const words = `HTTP ${status} instead of a WebSocket`
  const isUnavailable = status === 503 && namedMs !== null
  const isLimit = isUnavailable || status === 429
  const retryAfterMs = isUnavailable ? Math.min(namedMs, longestPauseMs) : namedMs
  return new TransportError(isLimit ? 'limited' : 'protocol', words, false, { retryAfterMs })
}

/** The same failure for a request that was never sent. */
export function unsent({ fault, message, retryAfterMs }: TransportError): TransportError {
  return new TransportError(fault, message, false, { retryAfterMs })
}

/** Fault for a node's close code (RFC 6455, 7.4); 1006 means none at all. */
export function closedFault(code: number): TransportError {
  const how = code === 1006 ? 'without a close code' : `with code ${code}`
  return new TransportError('reset', `the node closed the connection ${how}`)
}

/** With several requests, the one with the long answer is unknown, so all are merely lost. */
export function lossOf(error: TransportError, inFlight: number): TransportError {
  if (error.fault !== 'too-large' || inFlight === 1) return error
  return new TransportError('reset', error.message, true, { cause: error })
}
