// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { faultOf } from '../http/http-fault.ts'
import { TransportError } from '../transport.ts'

/** What an error of the WebSocket library means, beside those of Node. Its own text is not taken over. */
export function socketFaultOf(cause: Error): TransportError {
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    return new TransportError('too-large', 'a message over the limit', true, { cause })
  if (code.startsWith('WS_ERR')) return new TransportError('protocol', code, true, { cause })
  return faultOf(cause)
}

/** The same failure for a request that was never sent. */
export function unsent({ fault, message }: TransportError, cause?: unknown): TransportError {
  return new TransportError(fault, message, false, { cause })
}

/** What the node's code of a closed connection means (RFC 6455, 7.4); 1006 is none at all. */
export function closedFault(code: number): TransportError {
  const how = code === 1006 ? 'without a word' : `with code ${code}`
  return new TransportError('reset', `the node closed the connection ${how}`)
}
