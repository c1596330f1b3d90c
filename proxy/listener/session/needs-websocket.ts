// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { JsonRpcCall } from '../jsonrpc/jsonrpc-call.ts'
import { RequestRefused, type JsonRpcRequest } from '../jsonrpc/jsonrpc-request.ts'

/** Over HTTP nobody can be told of anything later. @throws RequestRefused when the call is to subscribe */
export function refuseSubscription(request: JsonRpcRequest, { asked }: JsonRpcCall): null {
  if (asked.kind !== 'subscribe') return null
  const message = `${asked.method} needs a WebSocket: connect to the same address with ws:// instead of http://`
  throw new RequestRefused(new RelayError(errorKinds.needsWebSocket, message), request.id)
}
