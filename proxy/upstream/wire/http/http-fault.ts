// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { TransportFault } from '../../../chain/failure-table.ts'
import { TransportError } from '../../transport.ts'

const unsent: readonly TransportFault[] = ['refused', 'unresolved', 'tls', 'unsendable']

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
  UND_ERR_INVALID_ARG: 'unsendable',
  UND_ERR_NOT_SUPPORTED: 'unsendable',
  // The router itself has closed the connection.
  UND_ERR_ABORTED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
}

/** What is wrong with TLS, for a person; keys are codes of Node and OpenSSL. */
const tlsWords: readonly (readonly [codes: RegExp, words: string])[] = [
  [/SELF_SIGNED/, 'the certificate is self-signed'],
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH/, 'the certificate is for another name'],
  [/CERT_HAS_EXPIRED/, 'the certificate has expired'],
  [/CERT_NOT_YET_VALID/, 'the certificate is not valid yet'],
  [/UNABLE_TO_(GET|VERIFY)|CERT_UNTRUSTED/, 'the certificate is of an unknown authority'],
  [/EPROTO|WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST/, 'the server does not speak TLS'],
  [
    /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE/,
    'the server refuses the client certificate',
  ],
]

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
  const words = fault === 'tls' ? wordsOf(code) : code
  return new TransportError(fault, words || 'unknown error', !unsent.includes(fault), { cause })
}

function codeOf(cause: Error): string {
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
    return codeOf(cause.errors[0])
  return (cause as NodeJS.ErrnoException).code ?? ''
}

function wordsOf(code: string): string {
  const found = tlsWords.find(([codes]) => codes.test(code))
  return found ? `TLS: ${found[1]} (${code})` : `TLS: ${code}`
}
